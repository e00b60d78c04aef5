"""The worst row of any set, by its kind: one compiled function for all, so that it is compiled once and kept."""

from __future__ import annotations

from ewok.tabular.compiled import borrowing
from ewok.tabular.sets import burg, chi_square, contamination, kl, l1, l2, linf


@borrowing
def worst_row(kind, z, p, w, radius, u, q):  # type: ignore[no-untyped-def]
    """Fill q with the worst row and return <q, z>; u is scratch of the same length."""
    if kind == kl.KIND:
        return kl.worst_row(z, p, radius, u, q)
    if kind == l1.KIND_L1:
        return l1.worst_row(z, p, w, radius, u, q)
    if kind == l1.KIND_TV:
        return l1.worst_row(z, p, w, 2.0 * radius, u, q)
    if kind == l2.KIND:
        return l2.worst_row(z, p, w, radius, u, q)
    if kind == linf.KIND:
        return linf.worst_row(z, p, w, radius, q)
    if kind == chi_square.KIND:
        return chi_square.worst_row(z, p, radius, u, q)
    if kind == burg.KIND:
        return burg.worst_row(z, p, radius, u, q)
    return contamination.worst_row(z, p, radius, q)
