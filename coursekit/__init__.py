"""`coursekit`: the small package that the course uses and teaches from.

Read it in this order: `errors`, `rng`, `initializers`, `autodiff`, `normalization`,
`parameters`, `layers`, `measure`, `report`. Importing it loads nothing heavy: a module such as
`coursekit.rng` loads when it is first asked for, figures and explorers with their libraries too.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted([*globals(), *(module.name for module in iter_modules(__path__))])


def __getattr__(name: str) -> ModuleType:
    if not name.startswith("_") and name in __dir__():
        return import_module(f"coursekit.{name}")
    raise AttributeError(f"module 'coursekit' has no attribute {name!r}")
