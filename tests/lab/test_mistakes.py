"""What cannot be meant is found in plain data, whatever else is wrong with it."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ewok.lab.mistakes import _keywords, mistakes_of

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab:._", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab:._", max_size=5), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(["world", "agent", "methods", "sweeps", "perturbations", "seeds", "name"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(keys, plain))
@example(raw={"methods": {"a": {"kind": ".:"}, ".:": {}}})
def test_whatever_a_file_says_it_is_answered(raw: dict[str, Any]) -> None:
    found = mistakes_of(raw)
    assert all(isinstance(place, str) and told for place, told in found.items())


def test_keywords_are_followed_as_far_as_they_are_passed_on() -> None:
    class Above:
        def __init__(self, deep: int, hidden: int) -> None: ...

    class Passes(Above):
        def __init__(self, own: int, **others: int) -> None: ...

    class Stops(Above):
        def __init__(self, own: int) -> None: ...

    assert _keywords(Passes) == {"own", "deep", "hidden"}
    assert _keywords(Stops) == {"own"}
