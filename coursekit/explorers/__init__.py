"""Pictures with knobs: one function for each explorer of the course.

`core` holds the pattern (compute, draw, wire) and is the only part of `coursekit` that imports
ipywidgets. Each chapter's explorers live in a module of their own beside it
(`from coursekit.explorers.symmetry import …`) and register themselves when it is loaded, so that
one test can try the whole range of every control of every explorer.
"""

from coursekit.explorers.core import (
    REGISTRY,
    Drawing,
    Explorer,
    choice,
    explore,
    explorer,
    ladder,
    positions,
    slider,
)

__all__ = [
    "REGISTRY",
    "Drawing",
    "Explorer",
    "choice",
    "explore",
    "explorer",
    "ladder",
    "positions",
    "slider",
]
