"""The parts of the exercises: one function for each question, found by its name.

    @part("ex01.a", "the target variance for (2, 2)")
    def target_variance(answer: Answer) -> str:
        answer.expect(0.5, rounding(2), hint="…", mistakes=[Mistake(1.0, LECUN_FOR_XAVIER)])
        return "2/(2 + 2) is 1/2."

The function returns the sentence that a right answer earns, or raises `Wrong` or `NotStarted`, most
often through the methods of `Answer`. It runs under the time limit of its part, so everything that
touches the answer belongs inside it.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass

from coursekit.checks.answers import Answer

SECONDS = 10.0
NAME = re.compile(r"(ex\d\d)\.[a-z]\Z")

EXERCISES = {
    "ex01": "scale_a_square_matrix",
    "ex02": "scale_a_wide_input",
    "ex03": "derive_the_zero_gradient",
    "ex04": "replay_a_draw",
    "ex05": "compare_two_seeds",
    "ex06": "measure_four_weights",
    "ex07": "collect_named_parameters",
    "ex08": "reject_without_a_trace",
    "ex09": "match_claims_and_sources",
    "ex10": "break_the_assumptions",
}

Examine = Callable[[Answer], str]


@dataclass(frozen=True)
class Part:
    """One question of an exercise, with the time limit for its whole examination."""

    name: str
    title: str
    seconds: float
    examine: Examine

    @property
    def exercise(self) -> str:
        """The exercise it belongs to, such as `ex01`."""
        return self.name[:4]


REGISTRY: dict[str, Part] = {}


def part(name: str, title: str, seconds: float = SECONDS) -> Callable[[Examine], Examine]:
    """Register the decorated function as the examination of one part.

    Args:
        name: exercise and letter, such as `ex01.a`.
        title: what is asked for, in a few words; `progress_report` shows it.
        seconds: time limit for the whole part, the learner's calls included.
    """
    if not NAME.match(name):
        raise ValueError(f"a part must be called as in ex01.a; got {name!r}")

    def register(function: Examine) -> Examine:
        REGISTRY[name] = Part(name, title, seconds, function)
        return function

    return register


def find(name: str) -> Part | None:
    """Return the part of this name, loading the module of its exercise; None if there is none."""
    if name not in REGISTRY and name[:4] in _modules():
        importlib.import_module(f"coursekit.checks.{name[:4]}")
    return REGISTRY.get(name)


def all_parts() -> list[Part]:
    """Return every part of every exercise, in order."""
    for module in _modules():
        importlib.import_module(f"coursekit.checks.{module}")
    return [REGISTRY[name] for name in sorted(REGISTRY)]


def _modules() -> list[str]:
    path = importlib.import_module("coursekit.checks").__path__
    return [m.name for m in pkgutil.iter_modules(path) if re.fullmatch(r"ex\d\d", m.name)]
