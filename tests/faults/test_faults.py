"""The hand-made faults still fit the code: each changes one place, and what is left compiles."""

from pathlib import Path

import pytest
from faults import FAULTS

PACKAGE = Path(__file__).resolve().parents[2] / "coursekit"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_one_change_that_compiles(fault):
    text = (PACKAGE / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    assert fault.new != fault.old
    compile(text.replace(fault.old, fault.new), fault.file, "exec")


def test_no_two_faults_have_one_name():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
