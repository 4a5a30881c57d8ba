"""A model that fits on no single machine, started by many workers with the bits of one.

Chapter 13 teaches this package. Read `plan` (where every weight lies on the stream), `blockwise`
(any block of a start, without the rest), `files` (which byte of which file each weight occupies)
and `workers` (the blocks as tasks for Dask, for processes, or for nobody else).

Sources and promises stand in each module. The extra `dask` is asked for by the functions that use
it, and by nothing else.
"""

from coursekit.sharded.blockwise import Declared, Start, placed
from coursekit.sharded.files import INDEX
from coursekit.sharded.plan import Plan, decoder, tiles
from coursekit.sharded.workers import INSTALL, array, arrays, bar, check, local_cluster, save

__all__ = [
    "INDEX",
    "INSTALL",
    "Declared",
    "Plan",
    "Start",
    "array",
    "arrays",
    "bar",
    "check",
    "decoder",
    "local_cluster",
    "placed",
    "save",
    "tiles",
]
