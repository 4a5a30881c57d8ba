"""What the exercises call: is this answer right, and if not, what is it instead?

No chapter teaches it; every exercise uses it. `check("ex01.a", answer)` never raises and prints
one line: not started, or what is wrong with one hint that fits, or passed. A learner's passed
checks are kept in `my_work/progress.json`, and `progress_report` shows them.

To read: `parts` (what an exercise registers), `core` (how an answer is examined), `answers` and
`calls` (how it is read, compared and called), `tolerances`, `misconceptions`, `isolation` (what an
answer may do to us, and does not), `progress`.
The parts of exercise N stand in `exNN.py`, each as a function under `@part`, next to its mistakes.

Not promised: safety from an answer that sets out to do harm. It runs with the learner's rights.
"""

from coursekit.checks.answers import Answer, Function
from coursekit.checks.core import Verdict, check, examine
from coursekit.checks.mistakes import Mistake, NotStarted, Wrong
from coursekit.checks.parts import REGISTRY, Part, all_parts, part
from coursekit.checks.progress import progress_report
from coursekit.checks.tolerances import EXACT, Tolerance, digits, rounding, sampling

__all__ = [
    "EXACT",
    "REGISTRY",
    "Answer",
    "Function",
    "Mistake",
    "NotStarted",
    "Part",
    "Tolerance",
    "Verdict",
    "Wrong",
    "all_parts",
    "check",
    "digits",
    "examine",
    "part",
    "progress_report",
    "rounding",
    "sampling",
]
