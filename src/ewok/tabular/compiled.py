"""How inner loops are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

# No references to arrays are counted here: the atomic steps that takes would be a third of a robust sweep, and
# make threads wait for one another. So such a function may neither make nor return arrays of its own.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}  # numba's types do not list it
borrowing = njit(cache=True, nogil=True, error_model="numpy", **_UNCOUNTED)
