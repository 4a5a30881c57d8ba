"""Names as bytes, against a regular expression that was written from the grammar."""

import re

import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from coursekit.errors import EmptyName, EmptyNameSegment, InvalidNameCharacter, WrongType
from coursekit.parameters import NamedParameter, validate_name
from coursekit.rng import SplitMix64

WHOLE = re.compile(rb"[a-z0-9_]+(?:\.[a-z0-9_]+)*\Z")
SOUND_BEGINNING = re.compile(rb"(?:[a-z0-9_]+\.)*[a-z0-9_]*")
LIKELY = st.lists(st.sampled_from([*b"ab_09.", *b"A-/:`{@ \n\0\x7f\xc3\xff"]), max_size=12)


def verdict(content):
    """What the grammar says of these bytes: an error and its fields, or None."""
    if WHOLE.match(content):
        return None
    if not content:
        return EmptyName, {}
    end = SOUND_BEGINNING.match(content).end()
    if end == len(content) or content[end] == ord("."):
        return EmptyNameSegment, {"index": end}
    return InvalidNameCharacter, {"index": end, "byte": content[end]}


@given(st.one_of(st.binary(max_size=12), LIKELY.map(bytes), st.text(max_size=8)))
@example("a\udc80")
@example("a.٣")
@examples(300)
def test_a_name_is_judged_by_its_first_bad_byte(given_):
    # Bytes that are no UTF-8 can only come as lone surrogates, which have bytes of their own.
    name = given_.decode("utf-8", "surrogateescape") if isinstance(given_, bytes) else given_
    expected = verdict(name.encode("utf-8", "surrogatepass"))
    if expected is None:
        validate_name(name)
        assert NamedParameter.zeros(name, 1).name == name
        return
    error, fields = expected
    rng = SplitMix64(17)
    for refused in (
        lambda: validate_name(name),
        lambda: NamedParameter.from_array(name, [1.0]),
        lambda: NamedParameter.xavier_uniform(name, 2, 2, rng),
    ):
        with pytest.raises(error) as caught:
            refused()
        assert {key: getattr(caught.value, key) for key in fields} == fields
    assert rng.state == 17


@given(st.binary(max_size=8))
@examples(50)
def test_bytes_themselves_are_no_name(content):
    with pytest.raises(WrongType):
        validate_name(content)
