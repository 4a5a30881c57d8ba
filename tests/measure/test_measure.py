"""`measure` is the one place where the three kinds of number are found together."""

from coursekit import measure
from coursekit.measure import depth, expected, sample


def test_every_name_is_the_one_of_its_module():
    homes = (sample, expected, depth)
    for name in measure.__all__:
        assert any(getattr(measure, name) is getattr(home, name, None) for home in homes)
