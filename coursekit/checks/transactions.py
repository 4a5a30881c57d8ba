"""The property test of exercise 8: whatever happens on the way, all of a request or nothing.

A sampler takes an initializer, a name, two fans and a generator. For every request it must do what
`careful` does: raise the same and leave the generator where it stood, or return the same parameter
and leave the generator where the initializer left its own. The requests are tried first one by
one, from harmless to malicious, then many in a row on one generator.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from coursekit.blocks import INCREMENT
from coursekit.checks.answers import Answer, FloatArray, Function
from coursekit.checks.describe import raised
from coursekit.checks.isolation import OutOfTime
from coursekit.checks.mistakes import Wrong
from coursekit.checks.wording import call_as
from coursekit.initializers import he_normal, xavier_uniform
from coursekit.parameters import NamedParameter, validate_name
from coursekit.rng import SplitMix64

INVERSE = pow(INCREMENT, -1, 2**64)
IN_A_ROW = 100


def draws_between(before: int, after: int) -> int:
    """Return how many draws lead from one state to the other.

    >>> rng = SplitMix64(17)
    >>> _ = rng.random(12)
    >>> draws_between(17, rng.state)
    12
    """
    return (after - before) * INVERSE % 2**64


def careful(initializer: Any, name: str, fan_in: int, fan_out: int, rng: SplitMix64) -> Any:
    """Return a named parameter, and move the generator last or not at all."""
    validate_name(name)
    trial = rng.clone()
    made = NamedParameter.from_array(name, initializer(fan_in, fan_out, trial))
    rng.advance(draws_between(rng.state, trial.state))
    return made


# --- initializers, from harmless to malicious -----------------------------------------------------


def draws_nothing(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    return np.ones((fan_in, fan_out))


def draws_two_each(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    first, second = rng.random((2, fan_in, fan_out))
    return np.asarray(first - second)


def ends_in_nan(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    weights = rng.random((fan_in, fan_out))
    weights[-1, -1] = np.nan
    return weights


def fails_midway(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    rng.random(3)
    raise RuntimeError("the disk is full")


def is_interrupted(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
    rng.random(3)
    raise KeyboardInterrupt


def works_once() -> Callable[[int, int, SplitMix64], FloatArray]:
    """Return an initializer that fails when it is called again."""
    calls = []

    def only_once(fan_in: int, fan_out: int, rng: SplitMix64) -> FloatArray:
        calls.append(1)
        if len(calls) > 1:
            fails_midway(fan_in, fan_out, rng)
        return xavier_uniform(fan_in, fan_out, rng)

    return only_once


class Case(NamedTuple):
    """One request, and what to think of when it leaves a trace or ends in another way."""

    initializer: Any
    name: str
    fan_in: int
    fan_out: int
    hint: str
    model: Any = None  # what the right answer is made with, if the initializer works only once

    @property
    def words(self) -> str:
        """How the call is told: `xavier_uniform, 'query', 2, 2, rng`."""
        return f"{self.initializer.__name__}, {self.name!r}, {self.fan_in}, {self.fan_out}, rng"


_AFTER = "The leaf is refused after the draws: draw on a clone, and move rng when all is done."
_NAME = "A bad name is refused before anything is drawn."
_COUNT = "Count the draws by the two states: no initializer has to take one an element."
_ONCE = "Draw once, and keep what was drawn: a second call may fail where the first did not."
_ERROR = "Any error may come from the initializer, not only those of the course."
_INTERRUPT = "An interrupt is no Exception. On a clone there is nothing to undo."
_MEMORY = "Alone it is met; here other requests came before. What do you keep between calls?"


def single_cases() -> list[Case]:
    """Return the requests that are tried alone."""
    return [
        Case(
            xavier_uniform,
            "query",
            2,
            2,
            "The least: weights from the initializer, a leaf, a name.",
        ),
        Case(he_normal, "decoder.0.up", 4, 3, "Use the initializer that is passed in."),
        Case(xavier_uniform, "Decoder.weight", 2, 2, _NAME),
        Case(xavier_uniform, "decoder..weight", 0, 2, "Two faults: the name's is told first."),
        Case(xavier_uniform, "query", 0, 2, "The initializer refuses: let its error through."),
        Case(ends_in_nan, "query", 2, 2, _AFTER),
        Case(draws_nothing, "bias", 2, 2, _COUNT),
        Case(draws_two_each, "query", 2, 3, _COUNT),
        Case(fails_midway, "query", 2, 2, _ERROR),
        Case(works_once(), "query", 2, 2, _ONCE, xavier_uniform),
        Case(is_interrupted, "query", 2, 2, _INTERRUPT),
    ]


def hold_to_account(sampler: Function) -> None:
    """Raise `Wrong` at the first request that is not met whole or refused whole."""
    for case in single_cases():
        _try(sampler, case, SplitMix64(17))
    rng, dice = SplitMix64(17), SplitMix64(8)
    initializers = (xavier_uniform, he_normal, draws_nothing, draws_two_each, ends_in_nan)
    names = ("query", "Query", "a.b.c", "a..b", "", "x_1")
    for _ in range(IN_A_ROW):
        i, j, fan_in, fan_out = (int(word) for word in dice.random_raw(4) % np.uint64(30))
        case = Case(initializers[i % 5], names[j % 6], fan_in % 5, fan_out % 5, _MEMORY)
        _try(sampler, case, rng)


def _try(sampler: Function, case: Case, rng: SplitMix64) -> None:
    state = rng.state
    model = SplitMix64.from_state(state)
    try:
        right = careful(case.model or case.initializer, *case[1:4], model)
    except OutOfTime:
        raise
    except BaseException as error:
        _must_refuse(sampler, case, rng, error)
    else:
        _must_meet(sampler, case, rng, right)
    moved, due = draws_between(state, rng.state), draws_between(state, model.state)
    if moved != due:
        got = f"{sampler.name}({case.words}) moving rng by {_signed(moved)} draws"
        still = "rng itself has to move: a new value for the name moves nobody's generator."
        raise Wrong(got, f"{due} draws", still if moved == 0 else case.hint)


def _must_refuse(sampler: Function, case: Case, rng: SplitMix64, right: BaseException) -> None:
    error = sampler.refusal(*case[:4], rng)
    if error is not None and raised(error) == raised(right):
        return
    got = f"{sampler.name}({case.words})"
    got += " returning as if all were well" if error is None else f" raising {raised(error)}"
    raise Wrong(got, raised(right), case.hint)


def _must_meet(sampler: Function, case: Case, rng: SplitMix64, right: NamedParameter) -> None:
    try:
        given: Answer = call_as(case.words, sampler, *case[:4], rng)
    except Wrong as wrong:
        raise Wrong(wrong.got, "a NamedParameter", case.hint) from None
    made = given.value
    if not isinstance(made, NamedParameter):
        given.reject(
            "a NamedParameter", "NamedParameter.from_array makes one from name and weights."
        )
    if made.name != right.name:
        given.reject(f"a NamedParameter called {right.name}", "The name is the second argument.")
    if made.shape != right.shape or made.value.tobytes() != right.value.tobytes():
        hint = "They begin at the present state of rng, and come from the initializer, unchanged."
        given.reject("the weights that the initializer draws from here", hint)


def _signed(draws: int) -> int:
    """Write steps back as a negative number."""
    return draws - 2**64 if draws >= 2**63 else draws
