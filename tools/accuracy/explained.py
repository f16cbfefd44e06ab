"""Why the simulation differs from the real ARC by more than is wished for, where it does."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
