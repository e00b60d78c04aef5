"""Models side by side in one film: the same world, moved in the same way, from the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import imageio.v2 as imageio
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ewok.errors import ArgumentError, EwokError, require_known
from ewok.lab.pilot import Pilot
from ewok.nominal.batch import stack, take
from ewok.whole import whole
from ewok.worlds.world import World

Picture = NDArray[np.uint8]  # (height, width, 3)
KINDS = (".mp4", ".gif", ".webp")
_CAPTION, _GAP, _PAPER, _INK = 34, 4, 255, (28, 33, 40)


def film(
    pilots: Sequence[Pilot],
    world: World,
    point: Mapping[str, float],
    path: Path,
    *,
    seed: int,
    height: int = 240,
    num_steps: int = 500,
) -> list[float]:
    """Film an episode of every model side by side, and return what each came to.

    Args:
        pilots: the models.
        world: where.
        point: the parameters that are moved.
        path: of the film; its ending says what kind it is: .mp4, .gif or .webp.
        seed: of the episode.
        height: of each picture.
        num_steps: to film at most.
    """
    require_known(path.suffix.lower(), KINDS, "out", "a kind of film, by its ending")
    takes = [Take(pilot, world, point, seed, height) for pilot in pilots]
    try:
        with whole(path) as place:
            _write(place, _frames(takes, num_steps), takes[0].frames_per_second)
    finally:
        for one in takes:
            one.close()
    return [one.total for one in takes]


@final
class Take:
    """One episode of one model, as pictures.

    Attributes:
        total: its return so far.
        is_over: whether it has ended.
    """

    def __init__(self, pilot: Pilot, world: World, point: Mapping[str, float], seed: int, height: int) -> None:
        self._pilot, self._height, self._world = pilot, height, world.name
        self._env: Any = world.make(**point)
        if getattr(self._env.unwrapped, "render_mode", None) != "rgb_array":
            self._env.unwrapped.render_mode = "rgb_array"
        pilot.forget()
        self._observation = self._env.reset(seed=seed)[0]
        self.total, self._step, self.is_over = 0.0, 0, False
        self._last: Picture | None = None

    @property
    def frames_per_second(self) -> float:
        return float(self._env.metadata.get("render_fps") or 30.0)

    def step(self) -> None:
        """Go on by one action."""
        if self.is_over:
            return
        action = take(self._pilot(stack([self._observation])), 0)
        self._observation, reward, terminated, truncated, _ = self._env.step(action)
        self.total += float(reward)
        self._step += 1
        self.is_over = bool(terminated or truncated)
        self._last = None

    def picture(self) -> Picture:
        """What it looks like now, with the model's name and what it came to."""
        if self._last is None:
            self._last = self._captioned(self._rendered())
        return self._last

    def close(self) -> None:
        self._env.close()

    def _rendered(self) -> Image.Image:
        try:
            seen = self._env.unwrapped.render()
        except EwokError:
            raise
        except Exception as error:  # renderers raise whatever they like
            raise ArgumentError(_unseen(self._world, f"{type(error).__name__}: {error}")) from error
        if not isinstance(seen, np.ndarray) or seen.ndim != 3:
            raise ArgumentError(_unseen(self._world, f"`render` returned {type(seen).__name__}, and no picture"))
        image = Image.fromarray(np.ascontiguousarray(seen[..., :3], dtype=np.uint8))
        return image.resize((max(1, round(image.width * self._height / image.height)), self._height))

    def _captioned(self, image: Image.Image) -> Picture:
        if self.is_over:
            image = Image.blend(image, Image.new("RGB", image.size, "white"), 0.5)
        page = Image.new("RGB", (image.width, image.height + _CAPTION), "white")
        page.paste(image, (0, _CAPTION))
        draw, font = ImageDraw.Draw(page), ImageFont.load_default(13)
        draw.text((4, 1), self._pilot.model.name, fill=_INK, font=font)
        state = f"ended at step {self._step}" if self.is_over else f"step {self._step}"
        draw.text((4, 17), f"{state}, return {self.total:.4g}", fill=_INK, font=font)
        return np.asarray(page)


def _frames(takes: Sequence[Take], num_steps: int) -> Iterator[Picture]:
    """Pictures side by side, from the reset on until all have ended."""
    yield _side_by_side([one.picture() for one in takes])
    for _ in range(num_steps):
        if all(one.is_over for one in takes):
            return
        for one in takes:
            one.step()
        yield _side_by_side([one.picture() for one in takes])


def _side_by_side(pictures: Sequence[Picture]) -> Picture:
    gap = np.full((len(pictures[0]), _GAP, 3), _PAPER, dtype=np.uint8)
    parts = [part for picture in pictures for part in (picture, gap)]
    whole = np.concatenate(parts[:-1], axis=1)
    odd = whole.shape[0] % 2, whole.shape[1] % 2  # video codecs want even sides
    return np.pad(whole, ((0, odd[0]), (0, odd[1]), (0, 0)), constant_values=_PAPER)


def _write(path: Path, frames: Iterator[Picture], frames_per_second: float) -> None:
    if path.suffix.lower() == ".mp4":
        options: dict[str, Any] = {"fps": frames_per_second, "codec": "libx264", "macro_block_size": 2, "quality": 7}
        writer: Any = imageio.get_writer(path, **options)
        with writer:
            for frame in frames:
                writer.append_data(frame)
        return
    every = 1 + int(frames_per_second > 30)  # such files are large, and browsers show no more of them
    kept = [frame for index, frame in enumerate(frames) if index % every == 0]
    iio.imwrite(path, np.stack(kept), plugin="pillow", duration=1000.0 * every / frames_per_second, loop=0)


def _unseen(world: str, why: str) -> str:
    return (
        f"the world {world} must be one that can be drawn, but it cannot be: {why}. Try MUJOCO_GL=egl where there is "
        "no screen; `ewok doctor` tries what can be drawn here."
    )
