"""Explorer of chapter 6: insert something into the declaration order, see the token table slide."""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coursekit.errors import InvalidNameCharacter
from coursekit.explorers.core import Drawing, Explorer, choice, explore, explorer, slider
from coursekit.figures import Figure
from coursekit.figures.replay import owner_rows, slid_table
from coursekit.figures.style import panels
from coursekit.parameters import NamedParameter
from coursekit.rng import SplitMix64

FloatArray = NDArray[np.float64]
MATRIX, BIAS, REFUSED = "matrix [1, n]", "bias of n zeros", "refused matrix [1, n]"
PLACES = ["before the query", "between query and table", "after the table"]


class Insertion(NamedTuple):
    """What became of the token table: its weights before and now, and who owns which draw."""

    before: FloatArray
    now: FloatArray
    owners: list[tuple[str, int]]

    @property
    def slide(self) -> int:
        """How many draws the table lies further along the stream than before."""
        names = [name for name, _ in self.owners]
        ahead = self.owners[: names.index("table")]
        return sum(draws for _, draws in ahead) - 4


def compute(seed: int, kind: str, place: str, n: int) -> Insertion:
    """Declare query [2, 2] and table [4, 2], then once more with something of n elements added."""
    before, _ = _declared(seed, ["query", "table"], n)
    order = ["query", "table"]
    order.insert(PLACES.index(place), kind)
    return Insertion(before, *_declared(seed, order, n))


def draw(figure: Figure, result: Insertion) -> Drawing:
    """Draw the stream with its owners above the table's weights."""
    stream, table = panels(figure, 2, 1)
    owner_rows(stream, {"before": [("query", 4), ("table", 8)], "now": result.owners})
    stream.set_title("who takes which draw of the stream", fontsize=10)
    stream.set_xlabel("")
    kept = result.before[result.slide :]
    slid_table(table, result.now, kept)
    same = int((result.now == result.before).sum())
    rows = "; ".join(", ".join(f"{w:.4g}" for w in row) for row in result.now.reshape(4, 2))
    if result.slide:
        finding = (
            f"The table slid by {result.slide}: {same} of 8 weights stand where they stood, "
            f"{kept.size} old ones stand elsewhere in it."
        )
    else:
        finding = f"The table did not move: {same} of 8 weights stand where they stood."
    return Drawing(
        finding,
        f"Above, the draws of the stream coloured by owner, before and now. Below, eight bars: the "
        f"table's rows are {rows}; {kept.size} open dots lie on the first bars.",
    )


@explorer
def insertion_explorer() -> Explorer:
    """Insert a matrix, a bias or a refused request, and see which weights stay."""
    return explore(
        "What does an insertion do to the parameters declared after it?",
        compute,
        draw,
        kind=choice("what is inserted", [MATRIX, BIAS, REFUSED]),
        place=choice("where", PLACES, PLACES[1]),
        n=slider("n", 1, 9, value=4),
        seed=slider("seed", 0, 40, value=17),
    )


def _declared(seed: int, order: list[str], n: int) -> tuple[FloatArray, list[tuple[str, int]]]:
    """Declare in this order on one stream; return the table, and who took how many draws."""
    rng = SplitMix64(seed)
    table, owners = np.zeros(0), []
    for what in order:
        if what == "query":
            owners.append(
                (what, NamedParameter.xavier_uniform("query.weight", 2, 2, rng).value.size)
            )
        elif what == "table":
            table = NamedParameter.xavier_uniform("table.weight", 4, 2, rng).value.ravel()
            owners.append((what, table.size))
        elif what == MATRIX:
            owners.append(
                ("new", NamedParameter.xavier_uniform("new.weight", 1, n, rng).value.size)
            )
        elif what == BIAS:
            NamedParameter.zeros("new.bias", n)
        else:
            with suppress(InvalidNameCharacter):
                NamedParameter.xavier_uniform("New.weight", 1, n, rng)
    return table, owners
