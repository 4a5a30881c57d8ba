"""Exercise 8, reject without a trace: predict, catch careless samplers, write a careful one.

A sampler leaves a trace when it refuses a request and the generator has moved, or when it meets
one and the generator stands elsewhere than the initializer left it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from coursekit.checks.answers import Answer
from coursekit.checks.careless import CARELESS
from coursekit.checks.isolation import OutOfTime
from coursekit.checks.parts import part
from coursekit.checks.transactions import careful, draws_between, hold_to_account
from coursekit.errors import CourseError
from coursekit.parameters import NamedParameter
from coursekit.rng import SplitMix64

SEED = 17

# --- a: what, with which fields, at which price -----------------------------------------------

ACCEPTED = "accepted"
OUTCOMES = (
    "EmptyNameSegment",
    "InvalidNameCharacter",
    "ZeroFanIn",
    "ZeroFanOut",
    "FanSumOverflow",
    "ShapeProductOverflow",
    ACCEPTED,
)
NAME_FIRST = "The name is read before the fans, so the first fault is the name's."


class Request(NamedTuple):
    """A request as the notebook shows it, with hints for a wrong class and for wrong fields."""

    make: Callable[[SplitMix64], Any]
    wrong_class: str
    wrong_fields: str = "The field repeats what was given."


REQUESTS = (
    Request(
        lambda rng: NamedParameter.xavier_uniform("Decoder.weight", 2, 2, rng),
        "Only a to z, 0 to 9, _ and the dot may stand in a name.",
        "Positions count from 0, and ord('D') is the byte.",
    ),
    Request(
        lambda rng: NamedParameter.xavier_uniform("decoder.invalid.weight", 0, 2, rng),
        "'invalid' is a word like any other: the name keeps the grammar. What is left?",
    ),
    Request(
        lambda rng: NamedParameter.xavier_uniform("decoder..weight", 0, 0, rng),
        NAME_FIRST,
        "An empty segment is noticed at the dot that ends it: count from 0.",
    ),
    Request(
        lambda rng: NamedParameter.xavier_uniform("decoder.weight.", 2, 2, rng),
        "After the last dot a segment begins. What is in it?",
        "No dot ends this segment, the end of the name does: that is the length.",
    ),
    Request(
        lambda rng: NamedParameter.xavier_uniform("caf\u00e9", 2, 2, rng),
        "Is é among a to z?",
        "In UTF-8 é is two bytes, as 'é'.encode() shows; the first one breaks the rule.",
    ),
    Request(
        lambda rng: NamedParameter.xavier_uniform("wide", 2**63, 2**63, rng),
        "The sum of the fans is looked at before their product.",
    ),
    Request(
        lambda rng: NamedParameter.xavier_uniform("token_embedding.weight", 4, 2, rng),
        "Nothing is wrong with this one.",
        "What is accepted has no fields: write [].",
    ),
    Request(
        lambda rng: NamedParameter.zeros("bias", 2),
        "Nothing is wrong with this one: 2 is a shape.",
        "What is accepted has no fields: write [].",
    ),
)


@part("ex08.a", "error, fields and draws of eight requests")
def prediction(answer: Answer) -> str:
    rows = answer.items(len(REQUESTS), f"{len(REQUESTS)} rows, in the order of the table")
    for number, (row, request) in enumerate(zip(rows, REQUESTS, strict=True), start=1):
        row.label = f"row {number}"
        _check_row(row, request)
    return "Six refusals, and none of them cost a draw."


def _check_row(row: Answer, request: Request) -> None:
    what, fields, draws = row.items(3, "a row of 3: class or 'accepted', [fields], draws")
    right, values, cost = _outcome(request)
    if what.choice(OUTCOMES) != right:
        what.reject("another outcome", request.wrong_class)
    wanted = "[fields], in the order of the class" if values else "[]"
    given_none = isinstance(fields.value, (list, tuple)) and not fields.value
    if given_none != (not values) or (values and fields.integers(len(values), wanted) != values):
        fields.reject(wanted, request.wrong_fields)
    if draws.integer("a number of draws") != cost:
        refused = "A refused request takes none."
        drawn = "One draw a sampled weight, and zeros take none."
        draws.reject("another number of draws", refused if right != ACCEPTED else drawn)


def _outcome(request: Request) -> tuple[str, list[int], int]:
    """Make the request; return its class, its fields and the draws it took."""
    rng = SplitMix64(SEED)
    try:
        request.make(rng)
    except CourseError as refusal:
        return type(refusal).__name__, list(refusal.args), draws_between(SEED, rng.state)
    return ACCEPTED, [], draws_between(SEED, rng.state)


# --- b: the first name that comes a second time -----------------------------------------------

LISTS: tuple[tuple[str, ...], ...] = (
    ("a", "b", "b", "a"),
    ("a", "b", "a", "b"),
    ("c", "b", "a", "b", "c"),
    ("a", "a", "a"),
    ("query", "query.bias", "Query", "query.bias", "query"),
    ("b", "a", "c"),
    ("a",),
    (),
    (*(f"block.{i}" for i in range(200)), "block.199", "block.0"),
)


def repeated(names: Sequence[str]) -> list[object]:
    """Return the first name that comes a second time, with both positions."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            return [name, seen[name], index]
        seen[name] = index
    return []


@part("ex08.b", "the first repeated name and its two positions")
def first_repeated(answer: Answer) -> str:
    find = answer.function("names")
    for names in LISTS:
        given = find(list(names))
        right = repeated(names)
        if not right:
            if not isinstance(given.value, (list, tuple)) or len(given.value):
                given.reject("an empty list: no name comes twice", "Return [] after the loop.")
            continue
        name, first, second = given.items(3, "a list of 3: name, first position, repeated position")
        found = [name.text(), first.integer(), second.integer()]
        if found != right:
            given.reject(f"{right[0]!r} and two positions", _why(found, list(names)))
    return "Of [a, b, b, a] it is b, at 1 and 2: read from the left, its repetition comes first."


def _why(found: list[Any], names: list[str]) -> str:
    name, first, second = found
    right = repeated(names)
    if name != right[0] and names.count(name) > 1:
        return "It comes twice, but its second place is further right: which comes first?"
    if name != right[0]:
        return "This name does not come twice."
    if [name, first - 1, second - 1] == right:
        return "Positions are counted from 0."
    if [name, second, first] == right:
        return "First the earlier position, then the later."
    if first != right[1]:
        return "Remember where each name came first, and do not write over it."
    return "Stop at the first repetition: a later one is not asked for."


# --- c: catch three careless samplers ---------------------------------------------------------

HINTS = {
    "draws_first": "It reads the name after it has drawn. Which name would it refuse then?",
    "counts_elements": "It moves one draw an element. Which initializer takes more, or none?",
    "rehearses": "The rehearsal tries the initializer alone. What comes after the second call?",
}
FORM = "[initializer, name, fan_in, fan_out]"


@part("ex08.c", "a request for each careless sampler that betrays it")
def betrayals(answer: Answer) -> str:
    found = answer.entries(tuple(CARELESS), "a dict with one request for each sampler")
    for name, sampler in CARELESS.items():
        initializer, parameter, fan_in, fan_out = found[name].items(4, FORM)
        initializer.function("fan_in, fan_out, rng")
        request = (initializer.value, parameter.text(), fan_in.integer(), fan_out.integer())
        if not _trace(sampler, request):
            found[name].reject(f"a request on which {name} leaves a trace", HINTS[name])
        if _trace(careful, request):
            hint = "Its number of draws varies from call to call, so no sampler could keep count."
            found[name].reject("an initializer that repeats itself", hint)
    return "Each one works until something goes wrong at the place where it does not look."


def _trace(sampler: Callable[..., Any], request: tuple[Any, str, int, int]) -> bool:
    rng, alone = SplitMix64(SEED), SplitMix64(SEED)
    try:
        sampler(*request, rng)
    except OutOfTime:
        raise
    except BaseException:
        return rng.state != SEED
    initializer, _, fan_in, fan_out = request
    initializer(fan_in, fan_out, alone)
    return rng != alone


# --- d: write one that leaves none ------------------------------------------------------------


@part("ex08.d", "a transactional sampler that a property test cannot break")
def transaction(answer: Answer) -> str:
    hold_to_account(answer.function("initializer, name, fan_in, fan_out, rng"))
    return "It met or refused every request whole, also those that were interrupted."
