"""The command line: `coursekit lab`, `python -m coursekit report`, and the rest of `--help`.

`00_start_here` names the commands. Each one loads the module that does its work when it is asked
for, so that `report` need not wait for JupyterLab. A request that cannot be met ends with one line
that says why, and exit status 2; a traceback would be a fault of this program.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from coursekit.errors import CourseError
from coursekit.workspace import lab_command

__all__ = ["lab_command", "main"]

REFUSED = 2
INTERRUPTED = 130  # 128 + the number of the signal that Control-C sends


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    >>> main(["report", "--seed", "-1"])
    2
    """
    parser = _parser()
    try:
        request = parser.parse_args(arguments)
        if request.run is None:
            parser.print_help()
            return 0
        status: int = request.run(request)
        print(end="", flush=True)  # so that a full disk is noticed here; stdout may also be None
        return status
    except CourseError as refusal:
        return _refused(str(refusal))
    except _UsageError as mistake:
        return _refused(str(mistake))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _drop_output()
        return 0
    except OSError as trouble:
        if trouble.filename is None:  # no file that a command named: the output itself
            _drop_output()
        return _refused(f"{trouble.filename or 'output'}: {trouble.strerror or trouble}")


def _drop_output() -> None:
    """Send what is left in the buffer nowhere; Python would try to write it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused(reason: str) -> int:
    print(f"coursekit: {' '.join(reason.split())}", file=sys.stderr)
    return REFUSED


# --- what can be asked for ----------------------------------------------------------------------


class _UsageError(Exception):
    """A command line that the parser cannot read."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message} (see {self.prog} --help)")


def _parser() -> _Parser:
    parser = _Parser(
        prog="coursekit",
        description="How to start a neural network: the course and its worked example.",
        epilog="coursekit COMMAND --help says more about one command.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> _Parser:
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    lab = command("lab", _lab, "open JupyterLab on the first chapter")
    lab.add_argument("--port", type=_port, metavar="N", help="listen on this port of this machine")
    lab.add_argument(
        "--no-browser", action="store_true", help="print the address and open no browser"
    )
    command("doctor", _doctor, "look for troubles of this installation, and name each cure")
    start = command("start", _start, "copy an exercise to my_work/, never over one that is there")
    start.add_argument("number", metavar="N|all", help="number of the exercise, or all of them")
    command("progress", _progress, "show which checks your copies in my_work/ have passed")
    for name, run in (("report", _report), ("trace", _trace)):
        text = f"print the worked {name}, computed anew"
        command(name, run, text).add_argument(
            "--seed", type=_integer, default=17, metavar="N", help="0 to 2**64 - 1; default 17"
        )
    slides = command("slides", _slides, "for instructors: make slides from the chapters")
    slides.add_argument("numbers", nargs="*", metavar="NN", help="chapters; default all")
    command("site", _site, "for instructors: make web pages of the chapters and exercises")
    pack = command("pack", _pack, "for instructors: pack one zip to hand out, without solutions")
    pack.add_argument("--output", type=Path, metavar="FILE", help="default: in build/")
    refresh = command("refresh", _refresh, "for authors: execute notebooks and store the outputs")
    refresh.add_argument("--check", action="store_true", help="only say what is out of date")
    refresh.add_argument(
        "paths", nargs="*", metavar="PATH", help="notebooks or folders; default all"
    )
    return parser


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"an integer is needed; got {text!r}") from None


def _port(text: str) -> int:
    port = _integer(text)
    if not 0 < port < 2**16:
        raise argparse.ArgumentTypeError(f"a port lies between 1 and 65535; got {text}")
    return port


# --- the commands -------------------------------------------------------------------------------


def _report(request: argparse.Namespace) -> int:
    from coursekit.report import worked_report

    print(worked_report(request.seed), end="")
    return 0


def _trace(request: argparse.Namespace) -> int:
    from coursekit.report import trace

    print(trace(request.seed), end="")
    return 0


def _lab(request: argparse.Namespace) -> int:
    from coursekit.workspace import open_lab

    return open_lab(port=request.port, browser=not request.no_browser)


def _doctor(request: argparse.Namespace) -> int:
    from coursekit import doctor

    return doctor.main()


def _start(request: argparse.Namespace) -> int:
    from coursekit.workspace import start

    print(*start(request.number), sep="\n")
    return 0


def _progress(request: argparse.Namespace) -> int:
    from coursekit.workspace import WORK, course_root

    folder = course_root() / WORK
    try:
        checks = import_module("coursekit.checks")
    except ModuleNotFoundError:
        return _refused("progress needs the checks of the exercises, which this copy lacks")
    print(checks.progress_report(folder).rstrip("\n"))
    return 0


def _slides(request: argparse.Namespace) -> int:
    from coursekit.publishing import slides

    return _told(slides.make(request.numbers))


def _site(request: argparse.Namespace) -> int:
    from coursekit.publishing import site

    return _told(site.make())


def _pack(request: argparse.Namespace) -> int:
    from coursekit.publishing import pack

    return _told(pack.make(target=request.output))


def _told(lines: Iterable[str]) -> int:
    """Print what a command does while it does it."""
    for line in lines:
        print(line, flush=True)
    return 0


def _refresh(request: argparse.Namespace) -> int:
    from coursekit.authoring import refresh

    return refresh(request.paths, check=request.check)


if __name__ == "__main__":
    sys.exit(main())
