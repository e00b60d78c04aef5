"""What the rows of all sets share. Outcomes have positive nominal probability p and a score z: low is bad."""

from __future__ import annotations

from ewok.tabular.compiled import borrowing, summing

TIES = 1e-13  # scores closer than this, relative to their span, are equally bad


@summing
def extent(z, num):  # type: ignore[no-untyped-def]
    """The lowest and the highest of the first scores."""
    lowest, highest = z[0], z[0]
    for i in range(1, num):
        lowest, highest = min(lowest, z[i]), max(highest, z[i])
    return lowest, highest


@borrowing
def relative(z, u):  # type: ignore[no-untyped-def]
    """Fill u with (z - z_min) / span and return the span; zeros where all are equal."""
    lowest, highest = extent(z, len(z))
    span = highest - lowest
    for i in range(len(z)):
        u[i] = (z[i] - lowest) / span if span > 0.0 else 0.0
    return span


@borrowing
def nominal(z, p, q):  # type: ignore[no-untyped-def]
    """The nominal row itself."""
    for i in range(len(z)):
        q[i] = p[i]
    return expectation(z, q)


@borrowing
def mass_of_lowest(p, u):  # type: ignore[no-untyped-def]
    mass = 0.0
    for i in range(len(u)):
        mass += p[i] if u[i] <= TIES else 0.0
    return mass


@borrowing
def on_lowest(z, p, u, mass, q):  # type: ignore[no-untyped-def]
    """The nominal row restricted to the lowest scores, which have this mass."""
    for i in range(len(z)):
        q[i] = p[i] / mass if u[i] <= TIES else 0.0
    return expectation(z, q)


@summing
def expectation(z, q):  # type: ignore[no-untyped-def]
    value = 0.0
    for i in range(len(q)):
        value += q[i] * z[i]
    return value


@borrowing
def weight(w, i):  # type: ignore[no-untyped-def]
    """The weight of outcome i; 1 where there are none."""
    return w[i] if len(w) > 0 else 1.0
