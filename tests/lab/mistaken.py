"""A module of somebody's own that cannot be imported."""

from __future__ import annotations

x = undefined  # type: ignore[name-defined]  # noqa: F821
