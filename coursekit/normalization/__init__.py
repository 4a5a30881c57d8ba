"""LayerNorm, RMSNorm and BatchNorm, each one node of the tape with a derivative made by hand.

Chapters 9 and 10 teach this package. Read `rows` (every row by its own statistics), then `batch`
(every feature by the statistics of the batch), then `kernels`, the arithmetic they share;
`composed` says the same in elementary operations and is what the tests compare with. The primary
sources are named in each module.
"""

from coursekit.normalization.batch import RunningStatistics, batch_norm
from coursekit.normalization.composed import (
    composed_batch_norm,
    composed_layer_norm,
    composed_rms_norm,
)
from coursekit.normalization.rows import layer_norm, rms_norm

__all__ = [
    "RunningStatistics",
    "batch_norm",
    "composed_batch_norm",
    "composed_layer_norm",
    "composed_rms_norm",
    "layer_norm",
    "rms_norm",
]
