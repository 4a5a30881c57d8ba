"""One command, one table: the course beside the tools it explains.

    python tests/benchmarks [--rounds 15] [--threads 2] [--only PATTERN] [--course]

Compared are NumPy, PyTorch, JAX, micrograd and HIPS autograd, those that are installed. Not part of
the test command: a time is no test. See `harness` for how a ratio is made.
"""

import argparse
import importlib.metadata
import os
import platform
import sys

parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds of a row")
parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for all contestants")
parser.add_argument("--only", default="", help="rows whose title contains this")
parser.add_argument("--course", action="store_true", help="growth, explorers and chapters as well")
options = parser.parse_args()
# Before NumPy and PyTorch load: they read these once.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "COURSEKIT_THREADS"):
    os.environ[name] = str(options.threads)

import course  # noqa: E402
import harness  # noqa: E402
import norms  # noqa: E402
import samplers  # noqa: E402
import tape  # noqa: E402


def versions() -> str:
    """Name the machine and what is compared."""
    packages = []
    for package in ("numpy", "torch", "jax", "micrograd", "autograd"):
        if harness.installed(package):
            packages.append(f"{package} {importlib.metadata.version(package)}")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{machine}, Python {platform.python_version()}, {', '.join(packages)}"


def main() -> None:
    """Print the table row by row."""
    if harness.installed("torch"):
        import torch

        torch.set_num_threads(options.threads)
    print(
        f"{versions()}; {options.threads} threads, median of {options.rounds} rounds (quartiles)\n"
    )
    print("| what | ours | ours / theirs |\n|---|---|---|")
    for row in [*samplers.rows(), *norms.rows(), *tape.rows()]:
        if options.only in row.title:
            print(harness.line(harness.measured(row, options.rounds)), flush=True)
    if options.course:
        for lines in (course.growth(), course.redraws(), course.chapters()):
            for text in lines:
                sys.stdout.write(text)
                sys.stdout.flush()


if __name__ == "__main__":
    main()
