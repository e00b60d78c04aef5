"""Films show what happened, and are there whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")
iio = pytest.importorskip("imageio.v3", reason="needs the lab extra")
pytest.importorskip("pygame", reason="needs gymnasium[classic-control]")

from PIL import Image

from ewok import worlds
from ewok.errors import ArgumentError
from ewok.lab.pilot import Pilot
from ewok.lab.saved import SavedModel, load
from ewok.lab.video import Take, film
from tests.lab.models import CARTPOLE, Picture, save_balancer, save_ppo

# The reader that the tests use leaves the pipes of its ffmpeg to the garbage collector.
leaky_reader = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def pilots(tmp_path_factory: Any) -> list[Pilot]:
    folder = tmp_path_factory.mktemp("video")
    return [Pilot(load(save(folder)), CARTPOLE) for save in (save_balancer, save_ppo)]


@leaky_reader
@pytest.mark.parametrize("kind", ["mp4", "gif", "webp"])
def test_every_kind_of_film_shows_models_side_by_side(kind: str, pilots: list[Pilot], tmp_path: Path) -> None:
    path = tmp_path / f"film.{kind}"
    came = film(pilots, CARTPOLE, {"gravity": 12.0}, path, seed=4, num_steps=30, height=80)
    if kind == "mp4":
        frames = iio.imread(path)
    else:
        with Image.open(path) as image:
            assert image.n_frames == 16, "every second step, and the first"
            frames = [np.asarray(image.convert("RGB"))]
    assert frames[0].shape == (80 + 34, 2 * 120 + 4, 3)
    assert kind != "mp4" or len(frames) == 31
    assert came[0] == 30.0
    assert frames[0].std() > 5.0, "there is something to see"
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_what_is_filmed_is_what_is_measured(pilots: list[Pilot], tmp_path: Path) -> None:
    came = film(pilots, CARTPOLE, {"gravity": 25.0}, tmp_path / "film.gif", seed=11, height=32, num_steps=600)
    for pilot, total in zip(pilots, came, strict=True):
        assert total == pilot.run([{"gravity": 25.0}], 1, seed=11).returns[0, 0]


def test_an_episode_that_is_over_stays_as_it_was(pilots: list[Pilot]) -> None:
    one = Take(pilots[1], CARTPOLE, {}, seed=0, height=60)
    while not one.is_over:
        one.step()
    before, total = one.picture(), one.total
    one.step()
    assert one.total == total
    np.testing.assert_array_equal(before, one.picture())
    one.close()


def test_worlds_that_cannot_be_drawn_say_so_and_leave_nothing(tmp_path: Path) -> None:
    gallery = worlds.World(name="gallery", build=Picture, parameters=[], settle=lambda env, values: None)

    class Agent:
        policy = object()
        observation_space, action_space = Picture().observation_space, Picture().action_space

    with pytest.raises(ArgumentError, match="gallery must be one that can be drawn, but it cannot be.*ewok doctor"):
        film([Pilot(SavedModel("m", "mine", Agent()), gallery)], gallery, {}, tmp_path / "film.mp4", seed=0)
    assert list(tmp_path.iterdir()) == []


def test_kinds_of_films_are_known_by_their_ending(pilots: list[Pilot], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="Did you mean '.mp4'"):
        film(pilots, CARTPOLE, {}, tmp_path / "film.mpg4", seed=0)


@leaky_reader
@pytest.mark.slow
def test_a_walker_is_drawn_without_a_screen(tmp_path: Path) -> None:
    pytest.importorskip("shimmy", reason="needs the dmc extra")
    from stable_baselines3 import SAC

    walker = worlds.get("walker-walk")
    model = SAC("MlpPolicy", walker.make(), seed=0, buffer_size=1, policy_kwargs={"net_arch": [8]}, device="cpu")
    pilot = Pilot(SavedModel("sac", "SAC", model), walker)
    film([pilot], walker, {"thigh_length": 0.4}, tmp_path / "film.mp4", seed=0, num_steps=3)
    frame = iio.imread(tmp_path / "film.mp4")[3][34:]
    assert frame.std() > 20.0
    assert (frame[..., 0].astype(int) - frame[..., 2] > 60).mean() > 0.005, "the walker is orange"
