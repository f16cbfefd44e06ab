"""The engine's own programs that only measurements need: engine/examples/, built as the engine is, optimised."""

from __future__ import annotations

import os
from pathlib import Path

from zmysql.host import Local

ENGINE = Path(__file__).parents[2] / "engine"


def example(name: str) -> Path:
    """Build a program of engine/examples and give its path."""
    Local().run(
        ("cargo", "build", "--quiet", "--release", "--manifest-path", str(ENGINE / "Cargo.toml"), "--example", name)
    )
    return Path(os.environ.get("CARGO_TARGET_DIR") or ENGINE / "target") / "release" / "examples" / name
