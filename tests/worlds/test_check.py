"""`check_perturbation` passes sound worlds, and each broken one fails it with what is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ewok
from ewok.errors import CheckError
from ewok.testing import check_perturbation
from ewok.worlds import Perturbation, World, cartpole
from ewok.worlds.dynamics_classic import CartPoleDynamics
from ewok.worlds.vector_classic import classic_batch

Env = gym.Env[Any, Any]
Values = Mapping[str, float]
GRAVITY = Perturbation(name="gravity", nominal=10.0, low=5.0, high=15.0, above=0.0)


def pendulum() -> Env:
    return gym.make("Pendulum-v1")


def sound(env: Env, values: Values) -> None:
    env.unwrapped.g = values["gravity"]  # type: ignore[attr-defined]


def swing(settle: Any = sound, build: Any = pendulum, parameter: Perturbation = GRAVITY, **more: Any) -> World:
    return World(name="swing", build=build, parameters=[parameter], settle=settle, **more)


def check(world: World) -> None:
    check_perturbation(world, num_steps=40)


@pytest.mark.parametrize("name", ["cartpole", "acrobot", "mountain-car", "mountain-car-continuous", "pendulum"])
def test_worlds_that_are_listed_are_sound(name: str) -> None:
    check_perturbation(name)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["walk", "stand", "run"])
def test_walkers_are_sound(task: str) -> None:
    pytest.importorskip("shimmy")
    check_perturbation(f"walker-{task}")


def test_a_sound_world_of_one_s_own_passes() -> None:
    check(swing())


def does_nothing(env: Env, values: Values) -> None:
    env.unwrapped.gravity = values["gravity"]  # type: ignore[attr-defined]


def only_upwards(env: Env, values: Values) -> None:
    env.unwrapped.g = max(10.0, values["gravity"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(("settle", "where"), [(does_nothing, "5"), (only_upwards, "5")])
def test_a_parameter_without_effect_at_one_end(settle: Any, where: str) -> None:
    with pytest.raises(CheckError, match=f"`gravity` has no effect: at {where} .* as at the nominal 10"):
        check(swing(settle))


def friction_of_one_side(env: Env, values: Values) -> None:
    """Of two that touch the larger counts: less of one alone is no less of both."""
    env.unwrapped.model.geom_friction[1:, 0] = values["friction"]  # type: ignore[attr-defined]


def test_friction_of_one_side_alone() -> None:
    pytest.importorskip("mujoco")
    friction = Perturbation(name="friction", nominal=0.4, low=0.1, high=0.4, least=0.0)
    world = World(
        name="slippery",
        build=partial(gym.make, "HalfCheetah-v5"),
        parameters=[friction],
        settle=friction_of_one_side,
    )
    with pytest.raises(CheckError, match=r"`friction` has no effect.*of two that touch, both"):
        check(world)


def pole_without_what_follows(env: Env, values: Values) -> None:
    env.unwrapped.masspole = values["pole_mass"]  # type: ignore[attr-defined]


def test_a_number_that_was_worked_out_once_is_stale() -> None:
    pole = Perturbation(name="pole_mass", nominal=0.1, low=0.1, high=1.0, above=0.0)
    world = World(name="c", build=cartpole.build, parameters=[pole], settle=pole_without_what_follows)
    with pytest.raises(CheckError, match="`total_mass` is stale when `pole_mass` is 1: .*Work it out again"):
        check(world)


def heavier(env: Any, scale: float) -> None:
    env.unwrapped.model.body_mass[1:] *= scale


def heavier_and_slower(env: Any, scale: float) -> None:
    heavier(env, scale)
    env.unwrapped.model.body_inertia[1:] *= scale


def longer(env: Any, scale: float) -> None:
    env.unwrapped.model.geom_size[1:, 1] *= scale


def longer_in_all_but_its_bounds(env: Any, scale: float) -> None:
    import mujoco

    heavier_and_slower(env, scale)
    model = env.unwrapped.model
    mujoco.mj_setConst(model, mujoco.MjData(model))
    longer(env, scale)


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (heavier_and_slower, r"model\.body_subtreemass"),
        (heavier, r"model\.body_subtreemass"),
        (longer, r"model\.body_mass"),
        (longer_in_all_but_its_bounds, r"model\.geom_rbound"),
    ],
)
def test_a_model_that_contradicts_itself_is_stale(change: Any, stale: str) -> None:
    pytest.importorskip("mujoco")
    scale = Perturbation(name="scale", nominal=1.0, low=1.0, high=2.0, above=0.0)
    world = World(
        name="m",
        build=partial(gym.make, "Hopper-v5"),
        parameters=[scale],
        settle=lambda env, values: change(env, values["scale"]),
    )
    with pytest.raises(CheckError, match=f"`{stale}` is stale when `scale` is 2"):
        check(world)


def test_masses_without_inertias_are_stale_even_where_constants_are_worked_out() -> None:
    mujoco = pytest.importorskip("mujoco")

    def settle(env: Any, values: Values) -> None:
        heavier(env, values["scale"])
        model = env.unwrapped.model
        mujoco.mj_setConst(model, mujoco.MjData(model))

    scale = Perturbation(name="scale", nominal=1.0, low=1.0, high=2.0, above=0.0)
    world = World(name="m", build=partial(gym.make, "Hopper-v5"), parameters=[scale], settle=settle)
    with pytest.raises(CheckError, match=r"`model\.body_inertia` is stale"):
        check(world)


def test_a_nominal_value_that_is_not_the_simulator_s_own() -> None:
    wrong = Perturbation(name="gravity", nominal=9.81, low=5.0, high=15.0, above=0.0)
    with pytest.raises(CheckError, match=r"`make\(\*\*nominal\)` does not give exactly the nominal environment"):
        check(swing(parameter=wrong))


class Careless(gym.ActionWrapper[Any, Any, Any]):
    """Draws from a generator that no seed reaches."""

    generator = np.random.default_rng()

    def action(self, action: Any) -> Any:
        return action + 0.1 * self.generator.standard_normal(1).astype(np.float32)


def test_draws_that_no_seed_reaches() -> None:
    with pytest.raises(CheckError, match=r"two nominal environments with the same seed, 0, go different ways"):
        check(swing(build=lambda: Careless(pendulum())))


def by_process(env: Env, values: Values) -> None:
    """What should be the same everywhere depends on the process."""
    shift = os.getpid() * 1e-9 if values["gravity"] > 10.0 else 0.0
    env.unwrapped.g = values["gravity"] + shift  # type: ignore[attr-defined]


def test_another_process_with_the_same_seed_goes_another_way() -> None:
    with pytest.raises(CheckError, match=r"another process with the same seed, 0, goes another way at gravity=15"):
        check(swing(by_process))


_PULL = {"gravity": 10.0}


class Shared(gym.Wrapper[Any, Any, Any, Any]):
    """Reads its gravity from a place that all of them share."""

    def step(self, action: Any) -> Any:
        self.unwrapped.g = _PULL["gravity"]  # type: ignore[attr-defined]
        return super().step(action)


def for_all(env: Env, values: Values) -> None:
    _PULL.update(values)


def fresh() -> Env:
    _PULL["gravity"] = 10.0
    return Shared(pendulum())


def test_making_one_changes_another() -> None:
    with pytest.raises(CheckError, match="making or stepping other environments changed the one at "):
        check(swing(for_all, build=fresh))


def relative(env: Env, values: Values) -> None:
    env.unwrapped.g *= values["gravity"] / 10.0  # type: ignore[attr-defined]


def test_moved_and_moved_back_is_not_what_it_was() -> None:
    with pytest.raises(CheckError, match="moved to gravity=5 and back, an environment is not nominal again"):
        check(swing(relative))


def test_a_live_one_cannot_be_moved() -> None:
    def once(env: Env, values: Values) -> None:
        if vars(env.unwrapped).get("state") is None:
            sound(env, values)

    with pytest.raises(CheckError, match="an environment moved to gravity=5 is not what `make` gives there"):
        check(swing(once))


def starts_anew(env: Env, values: Values) -> None:
    sound(env, values)
    simulator: Any = env.unwrapped
    if vars(simulator).get("state") is not None:
        simulator.state = np.array([np.pi, 0.0])


def test_moving_in_mid_episode_changes_the_state() -> None:
    with pytest.raises(CheckError, match=r"in mid-episode, an environment does not go on as it did.*`live=False`"):
        check(swing(starts_anew))
    kept_apart = Perturbation(name="gravity", nominal=10.0, low=5.0, high=15.0, above=0.0, live=False)
    check(swing(starts_anew, parameter=kept_apart))


def test_episodes_stepped_together_go_another_way() -> None:
    class Backwards:
        def draw(self, generator: np.random.Generator, num: int) -> Any:
            return -generator.standard_normal(num)

        def step(self, *arguments: Any) -> Any:
            return CartPoleDynamics().step(*arguments)

    real = ewok.worlds.get("cartpole")
    world = World(
        name="c",
        build=real.build,
        parameters=real.parameters,
        settle=real.settle,
        batch=partial(classic_batch, real.build, Backwards()),  # type: ignore[arg-type]
    )
    with pytest.raises(CheckError, match="episodes stepped together differ from single ones at the nominal values"):
        check(world)


def test_an_end_of_the_range_where_no_episode_can_start() -> None:
    def settle(env: Any, values: Values) -> None:
        cartpole.world.settle(env, {**cartpole.world.nominal})
        env.unwrapped.x_threshold = values["width"]

    width = Perturbation(name="width", nominal=2.4, low=1e-6, high=3.0, least=0.0)
    world = World(name="c", build=cartpole.build, parameters=[width], settle=settle)
    with pytest.raises(CheckError, match="`width` at 1e-06 ends the episode with its first step.*narrower range"):
        check(world)


class Fragile(gym.Wrapper[Any, Any, Any, Any]):
    """Comes apart under strong gravity."""

    def step(self, action: Any) -> Any:
        if self.unwrapped.g > 10.0:  # type: ignore[attr-defined]
            raise FloatingPointError("speeds overflow")
        return super().step(action)


def test_an_end_of_the_range_where_physics_comes_apart() -> None:
    with pytest.raises(CheckError, match=r"physics comes apart at gravity=15, within 40 .*\(speeds overflow\): test"):
        check(swing(build=lambda: Fragile(pendulum())))
