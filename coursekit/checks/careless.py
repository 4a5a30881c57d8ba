"""Three samplers that leave a trace; exercise 8 shows them, to be caught at it.

Each takes an initializer, a name, two fans and a generator, and returns a named parameter. Each
works whenever nothing goes wrong. What goes wrong is for the learner to find.
"""

from typing import Any

from coursekit.parameters import NamedParameter, validate_name
from coursekit.rng import SplitMix64


def draws_first(
    initializer: Any, name: str, fan_in: int, fan_out: int, rng: SplitMix64
) -> NamedParameter:
    weights = initializer(fan_in, fan_out, rng)
    return NamedParameter.from_array(name, weights)


def counts_elements(
    initializer: Any, name: str, fan_in: int, fan_out: int, rng: SplitMix64
) -> NamedParameter:
    made = draws_first(initializer, name, fan_in, fan_out, rng.clone())
    rng.advance(fan_in * fan_out)
    return made


def rehearses(
    initializer: Any, name: str, fan_in: int, fan_out: int, rng: SplitMix64
) -> NamedParameter:
    validate_name(name)
    initializer(fan_in, fan_out, rng.clone())  # raises here, if it is going to raise
    return NamedParameter.from_array(name, initializer(fan_in, fan_out, rng))


CARELESS = {"draws_first": draws_first, "counts_elements": counts_elements, "rehearses": rehearses}
