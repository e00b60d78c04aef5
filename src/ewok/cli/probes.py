"""What can be drawn and filmed here, found out by doing it.

Each in a process of its own: a renderer that does not work here may end the process, or never return.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

_TIMEOUT = 60.0
_CARTPOLE = """
import gymnasium, numpy
env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
env.reset(seed=0)
assert env.render().std() > 0.0, "the picture is empty"
"""
_MUJOCO = """
import mujoco
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><light pos='0 0 3'/><geom size='1' rgba='1 0 0 1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
with mujoco.Renderer(model, 64, 64) as renderer:
    renderer.update_scene(data)
    assert renderer.render().std() > 0.0, "the picture is empty"
"""
_FILM = """
import imageio_ffmpeg
print(imageio_ffmpeg.get_ffmpeg_version())
"""


def can_draw_cartpole() -> str:
    """Whether classic control can be drawn, in words."""
    if importlib.util.find_spec("pygame") is None:
        return "not tried, pygame is not installed: pip install 'gymnasium[classic-control]'"
    failed, _ = _tried(_CARTPOLE, SDL_VIDEODRIVER=os.environ.get("SDL_VIDEODRIVER", "dummy"))
    return f"fails: {failed}" if failed else "works"


def can_draw_mujoco() -> str:
    """Whether MuJoCo can draw, and by which library, in words."""
    if importlib.util.find_spec("mujoco") is None:
        return "not tried, MuJoCo is not installed: pip install 'ewok[dmc]'"
    given = os.environ.get("MUJOCO_GL")
    if given is not None:
        failed, _ = _tried(_MUJOCO)
        return f"fails with MUJOCO_GL={given}: {failed}" if failed else f"works, with MUJOCO_GL={given}"
    reasons = []
    for library in ("egl", "osmesa", "glfw"):
        failed, _ = _tried(_MUJOCO, MUJOCO_GL=library)
        if not failed:
            return f"works once MUJOCO_GL={library} is set: export MUJOCO_GL={library}"
        reasons.append(f"{library}: {failed}")
    return f"fails ({'; '.join(reasons)}). On Debian: apt install libegl1 libgl1-mesa-dri"


def can_film() -> str:
    """Whether films can be written, in words."""
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return "not tried, imageio-ffmpeg is not installed: pip install 'ewok[lab]'"
    failed, said = _tried(_FILM)
    return f"fails: {failed}" if failed else f"works, by ffmpeg {said.split('-')[0]}"


def _tried(program: str, **environment: str) -> tuple[str, str]:
    """What went wrong, in a line, or nothing; and what was printed."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            env={**os.environ, **environment},
        )
    except subprocess.TimeoutExpired:
        return f"no picture within {_TIMEOUT:g} seconds", ""
    if done.returncode == 0:
        return "", done.stdout.strip()
    lines = [
        line for line in done.stderr.strip().splitlines() if line and not line.startswith(("Exception ignored", " "))
    ]
    return lines[-1] if lines else f"the process ended with {done.returncode}", ""
