"""A world: nominal, moved by any combination of its parameters, found by its name."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ewok
from ewok.errors import ArgumentError, MissingExtraError
from ewok.testing import check_snapshot
from ewok.worlds import Perturbation, World, world
from ewok.worlds.vector import LoopBatch


def build() -> gym.Env[Any, Any]:
    return gym.make("Pendulum-v1")


def settle(env: gym.Env[Any, Any], values: Mapping[str, float]) -> None:
    pendulum: Any = env.unwrapped
    pendulum.g, pendulum.m = values["gravity"], values["mass"]


GRAVITY = Perturbation(name="gravity", nominal=10.0, low=5.0, high=15.0, above=0.0)
MASS = Perturbation(name="mass", nominal=1.0, low=0.5, high=2.0, above=0.0)
SWING = World(name="swing", build=build, parameters=[GRAVITY, MASS], settle=settle)


def named(name: str, *parameters: Perturbation) -> World:
    return World(name=name, build=build, parameters=parameters, settle=settle)


@pytest.fixture
def registered() -> Iterator[World]:
    yield ewok.worlds.register(SWING)
    del world._WORLDS["swing"]


def gravity_of(env: Any) -> tuple[float, float]:
    return env.unwrapped.g, env.unwrapped.m


def test_the_names_that_are_promised_are_there() -> None:
    names = ewok.worlds.names()
    assert names[:4] == ["cartpole", "walker-stand", "walker-walk", "walker-run"]
    assert list(ewok.worlds.get("cartpole").perturbations) == [
        *("noise", "pole_mass", "pole_length", "cart_mass", "gravity")
    ]
    assert list(ewok.worlds.get("walker-run").perturbations) == [
        *("noise_mean", "thigh_length", "torso_length", "joint_damping", "contact_friction")
    ]


def test_any_combination_can_be_made_and_what_is_not_named_is_nominal() -> None:
    assert gravity_of(SWING.make()) == (10.0, 1.0)
    assert gravity_of(SWING.make(mass=2.0)) == (10.0, 2.0)
    assert gravity_of(SWING.make(gravity=5, mass=np.float32(0.5))) == (5.0, 0.5)


def test_worlds_share_nothing() -> None:
    one, other = SWING.make(gravity=5.0), SWING.make()
    SWING.move(one, mass=2.0)
    assert (gravity_of(one), gravity_of(other)) == ((10.0, 2.0), (10.0, 1.0))
    assert gravity_of(SWING.make()) == (10.0, 1.0)


def test_a_live_environment_is_moved_and_says_where_it_is() -> None:
    env = SWING.make(gravity=5.0, observation_noise=0.1)
    assert SWING.values_of(env) == {"gravity": 5.0, "mass": 1.0, "observation_noise": 0.1}
    SWING.move(env, mass=2.0)
    assert SWING.values_of(env) == {"gravity": 10.0, "mass": 2.0, "observation_noise": 0.0}
    bare = build()
    SWING.move(bare, gravity=7.0)  # even one that the world did not make
    assert gravity_of(bare) == (7.0, 1.0)
    with pytest.raises(ArgumentError, match=r"`env` must be an environment with a `ActionDelay` in it.*action_delay=0"):
        SWING.move(bare, action_delay=1)


def test_what_is_saved_stays_moved(registered: World) -> None:
    env = SWING.make(gravity=5.0)
    assert env.spec is not None
    for again in (pickle.loads(pickle.dumps(env)), gym.make(env.spec)):
        assert gravity_of(again) == (5.0, 1.0)
    other = SWING.make(mass=2.0)
    env.reset(seed=0)
    other.reset(seed=1)
    ewok.restore(other, ewok.snapshot(env))
    action = np.ones(1, dtype=np.float32)
    np.testing.assert_array_equal(other.step(action)[0], env.step(action)[0])
    assert gravity_of(other) == (5.0, 1.0)
    check_snapshot(SWING.make(gravity=5.0), twin=SWING.make(gravity=5.0), num_steps=50)


def test_worlds_are_pickled_by_name_or_by_their_functions(registered: World) -> None:
    assert pickle.loads(pickle.dumps(SWING)) is SWING
    other = World(name="other", build=build, parameters=[GRAVITY, MASS], settle=settle)
    assert gravity_of(pickle.loads(pickle.dumps(other)).make(gravity=5.0)) == (5.0, 1.0)


def test_a_name_or_a_module_and_object_finds_a_world(registered: World) -> None:
    assert ewok.worlds.get("swing") is SWING
    assert ewok.worlds.get(f"{__name__}:SWING") is SWING
    with pytest.raises(ArgumentError, match="of an `ewok.worlds.World`"):
        ewok.worlds.get(f"{__name__}:GRAVITY")


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")  # CartPole's own, bare as well
def test_moved_worlds_pass_the_checkers_of_gymnasium_and_sb3() -> None:
    env = ewok.worlds.get("cartpole").make(gravity=20.0)
    check_env(env.unwrapped, skip_render_check=True)
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs SB3: pip install 'ewok[sb3]'")
    sb3.check_env(env, warn=False)


def test_many_at_once_are_single_environments_where_nothing_is_faster() -> None:
    vector = SWING.make_vector([{}, {"gravity": 5.0}], episodes=2)
    assert isinstance(vector._batch, LoopBatch)
    assert [gravity_of(env)[0] for env in vector._batch._envs] == [10.0, 10.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: ewok.worlds.get("cartpol"), "`name` must be the name of a world.*Did you mean 'cartpole'.*There are:"),
        (
            lambda: ewok.worlds.get("Tank-v0"),
            'There are: .*One of your own is named "module:object": see docs/worlds.md',
        ),
        (lambda: ewok.worlds.get("ALE/Tank-v0"), 'before the slash.*One of your own is named "module:object"'),
        (lambda: SWING.make(gravty=3.0), "`parameter` must be the name of a parameter of the world 'swing'.*'gravity'"),
        (lambda: SWING.make_vector([{"gravty": 3.0}]), "Did you mean 'gravity'"),
        (lambda: ewok.worlds.get("dm_contrl/cheetah-run"), "a family of worlds.*Did you mean 'dm_control'"),
        (lambda: ewok.worlds.get("nosuch:thing"), "`name` must be \"module:object\".*No module named 'nosuch'"),
        (lambda: ewok.worlds.get(".:thing"), "`name` must be .*relative import"),
        (lambda: ewok.worlds.get(["cartpole"]), "`name` must be the name of a world"),  # type: ignore[arg-type]
        (lambda: SWING.make_vector({"gravity": 5.0}), "`points` must be .* in a list, but it is {'gravity': 5.0}"),  # type: ignore[arg-type]
        (lambda: SWING.make_vector(["gravity"]), "`points` must be one or more mappings"),  # type: ignore[list-item]
        (lambda: SWING.make_vector([{}], episodes=1.5), "`episodes` must be a whole number, at least 1"),  # type: ignore[arg-type]
        (lambda: named("swing", GRAVITY, GRAVITY).make(gravity=5.0), "`parameters` must be of different names"),
        (lambda: ewok.worlds.register(named("cartpole", GRAVITY)), "`world` must be of a name that no other has"),
        (lambda: SWING.make(gravity=-1.0), "`gravity` must be a finite number greater than 0"),
        (lambda: SWING.make(mass=0.0), "`mass` must be a finite number greater than 0"),
        (lambda: SWING.make(gravity=5.0, mass=float("nan")), "`mass` must be a finite number"),
        (lambda: SWING.make_vector([{"gravity": 5.0}, {"mass": float("inf")}]), "`mass` must be a finite number"),
        (lambda: ewok.worlds.register("swing"), "`world` must be an `ewok.worlds.World`"),  # type: ignore[arg-type]
        (lambda: ewok.worlds.get("cartpole").prepared(SWING.make(mass=2.0), ["gravity"]), "of the world 'cartpole'"),
        (lambda: ewok.worlds.get("walker-walk").make(thigh_length=0.0), "`thigh_length` must be .*greater than 0"),
        (lambda: ewok.worlds.get("cartpole").make(pole_mass=-0.1), "`pole_mass` must be .*greater than 0"),
        (lambda: ewok.worlds.get("cartpole").make(action_noise=0.1), "needs a continuous"),
    ],
)
def test_bad_input_is_named_with_what_to_do(ask: Any, said: str) -> None:
    with pytest.raises((ArgumentError, ewok.errors.WrapperError), match=said):
        ask()


def test_a_world_that_is_not_installed_says_which_line_installs_it() -> None:
    absent = World(
        name="absent", build=build, parameters=[GRAVITY], settle=settle, package="no_such_package", extra="dmc"
    )
    for ask in (absent.make, lambda: absent.make_vector([{}])):
        with pytest.raises(MissingExtraError, match=r"no_such_package is not installed.*pip install 'ewok\[dmc\]'"):
            ask()


def test_parameters_can_be_asked_for_later_and_families_make_worlds_by_name() -> None:
    asked: list[str] = []

    def make(rest: str) -> World:
        asked.append(rest)
        return World(name=f"swings/{rest}", build=build, parameters=lambda: [GRAVITY, MASS], settle=settle)

    ewok.worlds.register_family("swings", make, "swings of all kinds")
    try:
        found = ewok.worlds.get("swings/high")
        assert found is ewok.worlds.get("swings/high")
        assert gravity_of(found.make(gravity=5.0)) == (5.0, 1.0)
        assert asked == ["high"]
        assert world.families()["swings"] == "swings of all kinds"
    finally:
        del world._FAMILIES["swings"], world._MADE["swings/high"]


def test_an_environment_that_a_world_did_not_make_is_where_it_is_read_to_be() -> None:
    swing = ewok.worlds.get("pendulum")
    bare = ewok.ActionNoise(gym.make("Pendulum-v1", g=7.0), std=0.4)
    assert swing.values_of(bare) == {**swing.nominal, "gravity": 7.0, "noise": 0.4}
    prepared = swing.prepared(bare, ["mass"])
    assert swing.values_of(prepared) == {**swing.nominal, "gravity": 7.0, "noise": 0.4}
    assert gravity_of(prepared) == (7.0, 1.0)
    bare = swing.make()
    swing.move(bare, gravity=20.0)
    assert swing.values_of(bare)["gravity"] == 20.0


def ends() -> Iterator[Any]:
    needed = {"mujoco": "mujoco", "shimmy": "dm_control"}
    for name in ("cartpole", "acrobot", "mountain-car", "mountain-car-continuous", "pendulum", "hopper", "walker-walk"):
        yield pytest.param(name, needed.get(ewok.worlds.get(name).package), id=name)


@pytest.mark.parametrize(("name", "needed"), list(ends()))
def test_what_was_moved_is_read_back(name: str, needed: str | None) -> None:
    if needed is not None:
        pytest.importorskip(needed)
    shifting = ewok.worlds.get(name)
    assert shifting.values_of(shifting.build()) == shifting.nominal
    for end in ("low", "high"):
        values = {parameter.name: getattr(parameter, end) for parameter in shifting.perturbations.values()}
        env = shifting.build()
        shifting.move(env, **values)
        assert shifting.values_of(env) == pytest.approx(values, rel=1e-12)


def test_after_a_restore_the_simulator_is_where_the_snapshot_was_at_once() -> None:
    cart = ewok.worlds.get("cartpole")
    env, other = cart.make(gravity=5.0), cart.make(gravity=20.0)
    env.reset(seed=0)
    other.reset(seed=1)
    saved = ewok.snapshot(env)
    ewok.restore(other, saved)
    assert gravity(other) == cart.values_of(other)["gravity"] == 5.0
    drawn, expected = (ewok.kernel_of(each).draw(1, 4) for each in (other, env))
    np.testing.assert_array_equal(drawn.observations, expected.observations)
    again = cart.make(gravity=20.0)
    again.reset(seed=1)
    ewok.restore(again, saved)
    again.reset(seed=2)
    assert gravity(again) == 5.0


def gravity(env: Any) -> float:
    found: float = env.unwrapped.gravity
    return found


def test_a_world_takes_another_one_s_place_only_where_that_is_meant(registered: World) -> None:
    assert ewok.worlds.register(registered) is registered
    other = ewok.worlds.register(named("swing", GRAVITY), replace=True)
    assert ewok.worlds.get("swing") is other is ewok.worlds.get(other)
