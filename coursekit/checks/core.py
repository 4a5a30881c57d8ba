"""Examine an answer: find its part, isolate it, and say in one line what came out.

The line is the same for the same answer, on every run. Its forms:

    ex01.a not started: …
    ex01.a not yet: got …; expected …. Hint: …
    ex01.a passed: …
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from coursekit.checks import progress
from coursekit.checks.answers import Answer
from coursekit.checks.describe import describe, one_line, raised
from coursekit.checks.isolation import Finished, TimeUp, isolated
from coursekit.checks.mistakes import NotStarted, Wrong
from coursekit.checks.parts import NAME, REGISTRY, Part, find

LONGEST_LINE = 600
_BEGIN = "Put your answer in its place and run the cell again."
_READ_IT = "Look at your answer in a cell of its own: it cannot be read."


@dataclass(frozen=True)
class Verdict:
    """What a check found, and the text that says it."""

    part: str
    state: Literal["not started", "not yet", "passed", "unknown"]
    text: str

    @property
    def line(self) -> str:
        """The line that `check` prints.

        >>> Verdict("ex01.a", "passed", "2/(2 + 2) is 1/2.").line
        'ex01.a passed: 2/(2 + 2) is 1/2.'
        """
        return one_line(f"{self.part} {self.state}: {self.text}", LONGEST_LINE)


def check(name: str, answer: object = ...) -> None:
    """Print one line about `answer`, and keep a passed part if this runs in the learner's folder.

    Never raises, except for the learner's own interrupt.

    >>> check("ex99.a", 0.5)
    ex99.a unknown: there is no exercise ex99.
    """
    try:
        folder = progress.folder()  # before the answer may change the working folder
        verdict = examine(name, answer)
        line = verdict.line
        if folder is not None and verdict.state == "passed":
            line = " ".join([line, *progress.record(folder, verdict.part)])
    except Exception as error:
        line = one_line(f"{describe(name)} could not be checked: {raised(error)}", LONGEST_LINE)
    with suppress(Exception):  # an answer may have closed standard output
        print(line)


def examine(name: str, answer: object = ...) -> Verdict:
    """Return the verdict on `answer`; nothing is printed or kept."""
    if type(name) is not str or not NAME.match(name):
        return Verdict(describe(name), "unknown", "a check is called by a name such as 'ex01.a'.")
    found = find(name)
    if found is None:
        exercise = name[:4]
        known = ", ".join(sorted(key for key in REGISTRY if key.startswith(exercise)))
        has = f"exercise {exercise} has {known}." if known else f"there is no exercise {exercise}."
        return Verdict(name, "unknown", has)
    outcome = isolated(lambda: _verdict(found, answer), found.seconds)
    if isinstance(outcome, Finished):
        return outcome.value
    if isinstance(outcome, TimeUp):
        hint = "Look for a loop whose condition never becomes false."
        if not outcome.stopped:
            hint += " It could not be ended: restart the kernel."
        got = f"no result within {found.seconds:g} s"
        return _not_yet(name, got, "an answer in time", hint)
    return _not_yet(name, raised(outcome.error), "an answer", _READ_IT)


def _verdict(one: Part, answer: object) -> Verdict:
    given = Answer(answer)
    try:
        given.require_started()
        return Verdict(one.name, "passed", one.examine(given))
    except NotStarted as missing:
        return Verdict(one.name, "not started", f"{missing} {_BEGIN}")
    except Wrong as wrong:
        return _not_yet(one.name, wrong.got, wrong.expected, wrong.hint)
    except Exception as error:
        got = f"{given.got()}, which raises {raised(error)}"
        return _not_yet(one.name, got, "an answer that can be read", _READ_IT)


def _not_yet(name: str, got: str, expected: str, hint: str) -> Verdict:
    return Verdict(name, "not yet", f"got {got}; expected {expected}. Hint: {hint}")
