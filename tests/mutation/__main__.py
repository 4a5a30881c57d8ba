"""Change one thing in a module, run the tests of that module, and see whether they notice.

    python tests/mutation [--again | --survivors] [MODULE ...]     (needs the extra `mutation`)

Cosmic Ray makes the mutants; `cosmic-ray.toml` says which. A mutant is killed when one of the tests
that mirror its module fails, or runs longer than the time limit. Everything happens in a copy.
Instead of starting Python, NumPy, pytest and Hypothesis anew for every mutant, this process loads
them once and forks; the course itself is imported in the child. Results are kept in
`mutants/<module>.sqlite`, so that a run that was stopped goes on where it was, and
`cosmic-ray dump` or `cr-report` can read them.

Not counted are mutants that no run can notice: in type annotations, in overloads, and in branches
for Windows. Survivors that change nothing, or only the speed, stand in `equivalent.toml` with the
reason why; what is printed below a score are the survivors that do not.
"""

import argparse
import ast
import difflib
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import tomllib
from contextlib import closing
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", HYPOTHESIS_STORAGE_DIRECTORY=tempfile.mkdtemp())
sys.dont_write_bytecode = True  # two mutants of one second and one size would share a file

import cosmic_ray.commands  # noqa: E402
import cosmic_ray.plugins  # noqa: E402
import hypothesis  # noqa: E402
import hypothesis.extra.numpy  # noqa: E402
import hypothesis.stateful  # noqa: E402
import numpy  # noqa: E402, F401
import pytest  # noqa: E402
import safetensors.numpy  # noqa: E402, F401
from cosmic_ray.mutating import use_mutation  # noqa: E402
from cosmic_ray.work_db import WorkDB, use_db  # noqa: E402
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONFIG = tomllib.loads((HERE / "cosmic-ray.toml").read_text(encoding="utf-8"))["cosmic-ray"]
EQUIVALENT = tomllib.loads((HERE / "equivalent.toml").read_text(encoding="utf-8"))
EXCLUDED = CONFIG["filters"]["operators-filter"]["exclude-operators"]

TAPE = "test_autodiff_tape test_autodiff_golden test_autodiff_ops fuzz/test_fuzz_tape"
OPS = "test_autodiff_ops test_autodiff_golden test_autodiff_tape test_autodiff_gradcheck"
# Module → the tests that mirror it, likeliest first. Its own examples come last.
MODULES = {
    "rng": "test_rng test_bits fuzz/test_fuzz_generator",
    "blocks": "test_rng test_bits sharded/test_blockwise fuzz/test_fuzz_generator",
    "normal": "test_normal test_bits test_rng",
    "arguments": "test_arguments test_rng",
    "initializers": "test_initializers test_bits",
    "scales": "test_scales test_initializers",
    "gains": "test_gains",
    "parameters": "test_parameters fuzz/test_fuzz_names fuzz/test_fuzz_collections",
    "storage": "test_storage test_parameters",
    "autodiff/tape": TAPE,
    "autodiff/tensor": TAPE,
    "autodiff/arrays": TAPE,
    **{
        f"autodiff/{name}": OPS
        for name in ("elementwise", "activations", "normal_cdf", "reductions", "shapes")
    },
    "autodiff/products": OPS,
    "autodiff/losses": OPS,
    "autodiff/gradcheck": "test_autodiff_gradcheck test_autodiff_ops",
    **{
        f"normalization/{name}": "test_normalization"
        for name in ("kernels", "rows", "batch", "checks", "composed")
    },
    **{
        f"checks/{name}": "test_checks"
        for name in ("answers", "calls", "core", "describe", "isolation", "mistakes", "parts")
    },
    "checks/tolerances": "test_checks",
    "checks/progress": "test_checks fuzz/test_fuzz_files",
}
SLOW = "not torch and not java and not killed and not endless and not at_once"


def out_of_reach(source: str) -> list[tuple[int, int]]:
    """The first and last lines of code that no run on this machine can reach."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            if any(
                isinstance(one, ast.Name) and one.id == "overload" for one in node.decorator_list
            ):
                first = min(one.lineno for one in node.decorator_list)
                lines.append((first, node.end_lineno or first))
        elif isinstance(node, ast.If) and "win32" in ast.unparse(node.test):
            lines.append((node.lineno, node.body[-1].end_lineno or node.lineno))
        elif isinstance(node, ast.AnnAssign):
            lines.append(
                (node.annotation.lineno, node.annotation.lineno)
            ) if not node.value else None
    return lines


def fill(database: WorkDB, module: Path) -> None:
    """Make the list of mutants, those that are not wanted or not reachable as skipped."""
    cosmic_ray.commands.init([module], database, {})
    hidden = out_of_reach(module.read_text(encoding="utf-8"))
    for item in list(database.work_items):
        mutation = item.mutations[0]
        unwanted = any(re.fullmatch(rule, mutation.operator_name) for rule in EXCLUDED)
        if unwanted or any(a <= mutation.start_pos[0] <= b for a, b in hidden):
            database.set_result(item.job_id, WorkResult(WorkerOutcome.SKIPPED))


def outcome(arguments: list[str], limit: float) -> TestOutcome | None:
    """Fork, run pytest in the child, and wait for it, but not for ever: None if it did not end."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        hypothesis.settings.register_profile(
            "mutation",
            derandomize=True,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        )
        hypothesis.settings.load_profile("mutation")
        code = 3
        try:
            code = int(pytest.main(arguments))
        finally:
            os._exit(code)
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            clean = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
            return TestOutcome.SURVIVED if clean else TestOutcome.KILLED
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def tried(item: WorkItem, arguments: list[str], limit: float) -> WorkResult:
    mutation = item.mutations[0]
    operator = cosmic_ray.plugins.get_operator(mutation.operator_name)(**mutation.operator_args)
    with use_mutation(mutation.module_path, operator, mutation.occurrence) as (before, after):
        if after is None:
            return WorkResult(WorkerOutcome.NO_TEST)
        compared = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=0))[2:]
        changed = [f"{one[0]} {one[1:].strip()}" for one in compared if one[0] in "-+" and one[1:]]
        # What does not end is tried again, for it may have been the machine; then it is killed.
        found = outcome(arguments, limit) or outcome(arguments, limit) or TestOutcome.KILLED
        return WorkResult(WorkerOutcome.NORMAL, test_outcome=found, diff="\n".join(changed))


def changes_nothing(name: str, diff: str) -> bool:
    """Whether `equivalent.toml` explains this survivor: by its line, and by what became of it."""
    old, _, new = diff.removeprefix("- ").partition("\n+ ")
    return any(
        entry["line"] == old
        and ("becomes" not in entry or squeezed(new) in map(squeezed, entry["becomes"]))
        for entry in EQUIVALENT.get(name, [])
    )


def squeezed(line: str) -> str:
    """A line without its blanks: Cosmic Ray leaves some behind."""
    return "".join(line.split())


def run(name: str, again: bool, survivors: bool) -> tuple[int, int, int, list[str]]:
    """Return how many mutants were tried, were killed, change nothing, and who the others are."""
    path = ROOT / "mutants" / f"{name.replace('/', '.')}.sqlite"
    path.parent.mkdir(exist_ok=True)
    if again:
        path.unlink(missing_ok=True)
    if survivors and path.exists():
        with closing(sqlite3.connect(path)) as results, results:
            results.execute("DELETE FROM work_results WHERE test_outcome = 'SURVIVED'")
    module = Path("coursekit", f"{name}.py")
    tests = [f"tests/{one}.py" for one in MODULES[name].split()]
    arguments = [
        "-o",
        "addopts=",
        "-x",
        "-q",
        "--assert=plain",
        "--noconftest",
        "-p",
        "no:cacheprovider",
    ]
    arguments += ["-k", SLOW, "--doctest-modules", *tests, str(module)]
    with use_db(str(path), WorkDB.Mode.create) as database:
        if not database.num_work_items:
            fill(database, module)
        start = time.monotonic()
        if outcome(arguments, 300) is not TestOutcome.SURVIVED:
            raise SystemExit(f"{name}: the tests fail without any mutant; see\n  {arguments}")
        limit = 10 + 5 * (time.monotonic() - start)
        for item in list(database.pending_work_items):
            database.set_result(item.job_id, tried(item, arguments, limit))
        mutations = {item.job_id: item.mutations[0] for item in database.work_items}
        results = [(mutations[job], result) for job, result in database.results]
    counted = [(m, r) for m, r in results if r.worker_outcome is WorkerOutcome.NORMAL]
    alive = [(m, r) for m, r in counted if r.test_outcome is TestOutcome.SURVIVED]
    left = [
        f"{name}.py:{m.start_pos[0]} {m.operator_name.removeprefix('core/')}\n{r.diff}"
        for m, r in alive
        if not changes_nothing(name, r.diff)
    ]
    return len(counted), len(counted) - len(alive), len(alive) - len(left), left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("modules", nargs="*", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--survivors", action="store_true", help="try again who survived")
    options = parser.parse_args()
    print("| module | mutants | killed | change nothing | killed of the others |")
    chosen = [n for n in MODULES if not options.modules or n in options.modules]
    with tempfile.TemporaryDirectory(prefix="coursekit-mutants-") as folder:
        for part in ("coursekit", "tests", "pyproject.toml"):
            source, skip = ROOT / part, shutil.ignore_patterns("__pycache__", "baseline")
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, Path(folder, part), **({"ignore": skip} if source.is_dir() else {}))
        os.chdir(folder)
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = folder
        for name in chosen:
            count, killed, same, survivors = run(name, options.again, options.survivors)
            share = 100.0 * killed / max(count - same, 1)
            print(f"| {name} | {count} | {killed} | {same} | {share:.1f} % |", flush=True)
            print("\n".join(survivors), flush=True)


if __name__ == "__main__":
    main()
