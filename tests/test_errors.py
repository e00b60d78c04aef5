"""What many arguments must be is said in one form everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ewok.errors import ArgumentError, require_several, require_whole


@pytest.mark.parametrize("value", [2, np.int64(2), np.uint8(2)])
def test_whole_numbers_come_back_as_plain_ones(value: Any) -> None:
    assert type(require_whole(value, "num", "Try 2.", least=2)) is int


@pytest.mark.parametrize("value", [1, -3, 2.0, np.float64(2.0), True, "2", None, np.array([2])])
def test_what_is_no_whole_number_is_told(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"`num` must be a whole number of points, at least 2, but it is .*Try 2\."):
        require_whole(value, "num", "Try 2.", of="points", least=2)


@pytest.mark.parametrize("values", [[1], (1, 2), range(3), np.ones(2), {1}])
def test_lists_and_the_like_are_several(values: Any) -> None:
    require_several(values, "values", "one or more values", "Try [1].")


@pytest.mark.parametrize("values", [[], 1.0, "text", b"text", {"a": 1}, np.array(1.0), np.ones(0), None, iter([1])])
def test_what_is_no_list_or_has_nothing_in_it_is_told(values: Any) -> None:
    with pytest.raises(ArgumentError, match=r"`values` must be one or more values, in a list, but it is .*Try \[1\]\."):
        require_several(values, "values", "one or more values", "Try [1].")
