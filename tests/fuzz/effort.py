"""How long the fuzz looks: seconds by default, far longer with `COURSEKIT_FUZZ=thorough`."""

import os
from typing import Any

from hypothesis import HealthCheck, settings

THOROUGH = os.environ.get("COURSEKIT_FUZZ") == "thorough"
# A shrunk example may be slow, and what a machine draws is thrown away often, on purpose.
_PATIENT: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}


def examples(quick: int) -> settings:
    """Settings of a property: this many examples, fifty times as many when thorough."""
    return settings(max_examples=quick * (50 if THOROUGH else 1), **_PATIENT)


def runs(quick: int, steps: int) -> settings:
    """Settings of a machine: this many runs of up to so many steps; far more when thorough."""
    if THOROUGH:
        quick, steps = 30 * quick, 3 * steps
    return settings(max_examples=quick, stateful_step_count=steps, **_PATIENT)
