import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core import json_limits
from jupyter_ai_shoulders.core.json_limits import DEEPEST, MOST_ESCAPES, json_excess

TRICKY = st.text(alphabet='a,"[]{}\\:\n', max_size=12)
VALUES = st.recursive(
    TRICKY | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TRICKY, inner, max_size=4),
    max_leaves=12,
)


def values_in(value: object) -> int:
    """Count each container, and each of its items except the first."""
    match value:
        case dict():
            items = list(value.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]: JSON
        case list():
            items = value  # pyright: ignore[reportUnknownVariableType]: JSON
        case _:
            return 0
    return 1 + max(0, len(items) - 1) + sum(map(values_in, items))  # pyright: ignore[reportUnknownArgumentType]: JSON


@given(value=VALUES, chunk=st.integers(min_value=1, max_value=40))
def test_values_are_counted_outside_strings_wherever_a_chunk_ends(
    value: object, chunk: int
) -> None:
    text = json.dumps(value).encode()
    count = values_in(value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_limits, "_CHUNK", chunk)
        assert json_excess(text, count) is None
        if count:
            assert json_excess(text, count - 1) == f"more than {count - 1:,} values"


@pytest.mark.parametrize(
    ("text", "excess"),
    [
        (b"[" * DEEPEST + b"]" * DEEPEST, None),
        (b"[" * (DEEPEST + 1), f"more than {DEEPEST} levels of nesting"),
        (b'"' + b"[" * 5_000 + b'"', None),
        (b'"' + b"\\n" * MOST_ESCAPES + b'"', None),
        (b'"' + b"\\n" * (MOST_ESCAPES + 1) + b'"', "more than 2,000,000 escaped characters"),
        (b"[1,2,3" * 500, "more than 1,000 values"),
        (b'"' + b"a,[{" * 1_000_000 + b'"', None),
        (b"9" * 1_000_000, None),
        (b"", None),
    ],
    ids=[
        *("deep", "too deep", "brackets in a string", "escapes", "too many escapes"),
        *("not JSON", "a long text", "a long number", "nothing"),
    ],
)
def test_json_that_exceeds_a_bound_is_named(text: bytes, excess: str | None) -> None:
    assert json_excess(text, 1_000) == excess
