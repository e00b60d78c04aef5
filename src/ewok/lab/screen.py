"""Drawing where there is no screen."""

from __future__ import annotations

import os
import sys


def without_a_screen() -> dict[str, str]:
    """What lets simulators draw where there is no screen, unless somebody has said how they should.

    On other systems than Linux MuJoCo has one way to draw, and cannot be imported where another is asked for.
    """
    defaults = {"SDL_VIDEODRIVER": "dummy"}
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        defaults["MUJOCO_GL"] = "egl"
    return {name: os.environ.get(name, value) for name, value in defaults.items()}
