"""How inner loops are compiled. One way or the other is always said: numba hands on what is left open to callees.

What a function compiled first from within another one left open would be the other one's choice, and kept.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import njit

# numba's types list neither `_nrt` nor options by name.
_compiled: Any = partial(njit, cache=True, nogil=True, error_model="numpy")
_SUMS = {"reassoc", "contract", "nsz", "nnan"}

# No references to arrays are counted here: the atomic steps that takes would be a third of a robust sweep, and
# make threads wait for one another. So such a function may neither make nor return arrays of its own.
borrowing = _compiled(_nrt=False, fastmath=False)

# The same, where a multiplication and an addition may be one instruction, without rounding in between.
fusing = _compiled(_nrt=False, fastmath={"contract"})

# The same, where sums and extremes may be taken in any order, so that they become vector instructions; no NaN is there.
summing = _compiled(_nrt=False, fastmath=_SUMS)

# These may make arrays.
owning = _compiled(_nrt=True, fastmath=False)
