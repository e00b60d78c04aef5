"""A model that is moved in place is the model that would have been compiled so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("mujoco")

import gymnasium as gym
import mujoco
from gymnasium.envs.mujoco import mujoco_env

from ewok.errors import ArgumentError
from ewok.nominal.physics import numbers_of
from ewok.worlds.mujoco_model import MovableModel, parameters_of

ASSETS = Path(mujoco_env.__file__).parent / "assets"
COMPILED = ["hopper.xml", "walker2d_v5.xml", "ant.xml", "swimmer.xml", "inverted_pendulum.xml", "humanoid.xml"]


def load(name: str) -> Any:
    return mujoco.MjModel.from_xml_path(str(ASSETS / name))


def nominal(model: Any) -> dict[str, float]:
    return {parameter.name: parameter.nominal for parameter in parameters_of(model)}


def scaled(name: str, size: float) -> Any:
    """Compiled from the file, with every length of every body multiplied."""
    spec = mujoco.MjSpec.from_file(str(ASSETS / name))
    for body in spec.bodies[1:]:
        body.pos *= size
        for geom in body.geoms:
            geom.size *= size
            geom.pos *= size
            geom.fromto *= size
        for site in body.sites:
            site.pos *= size
        for joint in body.joints:
            joint.pos *= size
            if joint.type == mujoco.mjtJoint.mjJNT_SLIDE:
                joint.ref *= size
    return spec.compile()


@pytest.mark.parametrize("name", COMPILED)
def test_sizes_are_those_of_a_file_with_other_lengths(name: str) -> None:
    """Lengths, masses, inertias, bounding volumes, first positions, and all the solver works out of them."""
    model, expected = load(name), numbers_of(scaled(name, 1.25))
    MovableModel(model).move(model, {**nominal(model), "size_scale": 1.25})
    looks = ("cam_", "light_", "site_size", "stat.center", "stat.extent", "stat.meansize")
    for number, moved in numbers_of(model).items():
        if not number.startswith(looks):
            np.testing.assert_allclose(moved, expected[number], rtol=1e-6, atol=1e-9, err_msg=number)


@settings(max_examples=20, deadline=None)
@given(mass=st.floats(0.5, 2.0), size=st.floats(0.8, 1.25), rest=st.lists(st.floats(0.5, 1.5), min_size=5, max_size=5))
def test_there_and_back_is_nominal_to_the_bit(mass: float, size: float, rest: list[float]) -> None:
    model = load("hopper.xml")
    before, movable, values = numbers_of(model), MovableModel(model), nominal(model)
    others = [name for name in values if name not in ("mass_scale", "size_scale")]
    moved = {name: values[name] * factor for name, factor in zip(others, rest, strict=True)}
    movable.move(model, {"mass_scale": mass, "size_scale": size, **moved})
    movable.move(model, values)
    for name, number in numbers_of(model).items():
        np.testing.assert_array_equal(number, before[name], err_msg=name)


def test_heavier_bodies_turn_as_much_more_slowly() -> None:
    model, before = load("ant.xml"), load("ant.xml")
    MovableModel(model).move(model, {**nominal(model), "mass_scale": 2.0})
    np.testing.assert_array_equal(model.body_mass, 2.0 * before.body_mass)
    np.testing.assert_array_equal(model.body_inertia, 2.0 * before.body_inertia)
    fresh = load("ant.xml")
    fresh.body_mass[:] *= 2.0
    fresh.body_inertia[:] *= 2.0
    mujoco.mj_setConst(fresh, mujoco.MjData(fresh))
    for name in ("body_subtreemass", "body_invweight0", "dof_M0", "dof_invweight0"):
        np.testing.assert_array_equal(getattr(model, name), getattr(fresh, name))
    assert (model.body_subtreemass > before.body_subtreemass).all()


@pytest.mark.parametrize("scale", [0.1, 3.0])
def test_friction_moves_both_sides_of_every_contact(scale: float) -> None:
    model, before = load("half_cheetah.xml"), load("half_cheetah.xml")
    MovableModel(model).move(model, {**nominal(model), "friction_scale": scale})
    np.testing.assert_array_equal(model.geom_friction[:, 0], before.geom_friction[:, 0] * scale)
    np.testing.assert_array_equal(model.geom_friction[:, 1:], before.geom_friction[:, 1:])
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=200)  # it falls
    assert data.ncon > 0
    geoms = before.geom_friction[data.contact.geom, 0].max(axis=1)
    np.testing.assert_allclose(data.contact.friction[:, 0], scale * geoms)


def test_motors_damping_gravity_timestep_and_water_are_what_they_are_set_to() -> None:
    model, before = load("swimmer.xml"), load("swimmer.xml")
    MovableModel(model).move(
        model, {**nominal(model), "strength_scale": 2.0, "fluid_density": 1000.0, "fluid_viscosity": 0.5}
    )
    np.testing.assert_array_equal(model.actuator_gainprm[:, 0], 2.0 * before.actuator_gainprm[:, 0])
    assert (model.opt.density, model.opt.viscosity) == (1000.0, 0.5)
    model, before = load("hopper.xml"), load("hopper.xml")
    MovableModel(model).move(model, {**nominal(model), "damping_scale": 3.0, "gravity": 5.0, "timestep": 0.001})
    np.testing.assert_array_equal(model.dof_damping, 3.0 * before.dof_damping)
    np.testing.assert_array_equal(model.opt.gravity, [0.0, 0.0, -5.0])
    assert model.opt.timestep == 0.001
    data, other = mujoco.MjData(model), mujoco.MjData(before)
    for each, compiled in ((data, model), (other, before)):
        each.ctrl[:] = 1.0
        mujoco.mj_forward(compiled, each)
    np.testing.assert_array_equal(data.qfrc_actuator, other.qfrc_actuator)  # motors are as strong as before


def test_a_servo_twice_as_strong_pulls_twice_as_hard_to_the_same_place() -> None:
    text = """<mujoco><worldbody><body><joint name="j" damping="1"/><geom size=".1"/></body></worldbody>
    <actuator><position joint="j" kp="10" forcerange="-3 3"/></actuator></mujoco>"""
    forces = []
    for strength in (1.0, 2.0):
        model = mujoco.MjModel.from_xml_string(text)
        MovableModel(model).move(model, {**nominal(model), "strength_scale": strength})
        data = mujoco.MjData(model)
        data.qpos[0], data.ctrl[0] = 0.1, 0.3
        mujoco.mj_forward(model, data)
        forces.append(float(data.actuator_force[0]))
        data.ctrl[0] = 9.0
        mujoco.mj_forward(model, data)
        assert data.actuator_force[0] == 3.0 * strength
    assert forces == pytest.approx([2.0, 4.0])


def names_of(env_id: str) -> set[str]:
    return {parameter.name for parameter in parameters_of(gym.make(env_id).unwrapped.model)}  # type: ignore[attr-defined]


def test_only_what_makes_a_difference_can_be_moved() -> None:
    """Where all joints lie flat gravity does nothing; where nothing touches, nor does friction."""
    everywhere = {"mass_scale", "size_scale", "strength_scale", "timestep"}
    assert names_of("Swimmer-v5") == {*everywhere, "fluid_density", "fluid_viscosity"}
    assert names_of("InvertedPendulum-v5") == {*everywhere, "damping_scale", "gravity"}
    assert names_of("Hopper-v5") == {*everywhere, "friction_scale", "damping_scale", "gravity"}
    assert names_of("Reacher-v5") == {*everywhere, "damping_scale"}


@pytest.mark.parametrize(
    "part",
    [
        '<tendon><spatial><site site="a"/><site site="b"/></spatial></tendon>',
        '<equality><connect body1="limb" anchor="0 0 0"/></equality>',
    ],
)
def test_what_has_sizes_elsewhere_is_not_scaled(part: str) -> None:
    text = f"""<mujoco><worldbody><site name="a"/><body name="limb"><joint/><geom size=".1"/><site name="b"/></body>
    </worldbody>{part}</mujoco>"""
    found = [parameter.name for parameter in parameters_of(mujoco.MjModel.from_xml_string(text))]
    assert "mass_scale" in found
    assert "size_scale" not in found


def test_a_model_of_another_world_is_refused() -> None:
    hopper, ant = load("hopper.xml"), load("ant.xml")
    with pytest.raises(ArgumentError, match="`env` must be of this world"):
        MovableModel(hopper).move(ant, nominal(hopper))


def test_constants_are_worked_out_only_where_masses_or_sizes_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes many times a step, and gravity may move at every one."""
    counted: list[Any] = []
    real = mujoco.mj_setConst
    monkeypatch.setattr(mujoco, "mj_setConst", lambda *arguments: [counted.append(arguments), real(*arguments)])
    model = load("hopper.xml")
    movable, values = MovableModel(model), nominal(model)
    movable.move(model, {**values, "gravity": 5.0, "friction_scale": 2.0})
    assert len(counted) == 0
    movable.move(model, {**values, "mass_scale": 2.0})
    movable.move(model, {**values, "mass_scale": 2.0, "gravity": 5.0})
    assert len(counted) == 1
    movable.move(model, {**values, "mass_scale": 2.0, "size_scale": 1.1})
    assert len(counted) == 2


def test_what_was_moved_is_read_back() -> None:
    model = load("ant.xml")
    movable, values = MovableModel(model), nominal(model)
    assert movable.read(model).items() >= values.items()
    moved = {name: value * 1.2 for name, value in values.items()}
    movable.move(model, moved)
    found = movable.read(model)
    assert {name: found[name] for name in moved} == pytest.approx(moved, rel=1e-12)
