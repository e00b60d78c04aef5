"""The walker's model: what an edit moves, and that nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("dm_control")

import mujoco
from dm_control.suite import walker

from ewok.worlds.walker_model import NOMINAL, PARAMETERS, assign, model_of, template, textured_model, values_in

DENSITY = 1000.0  # kg/m^3, MuJoCo's own


def moved(**values: float) -> Any:
    return model_of(values_in({**NOMINAL, **values}))


def differences(one: Any, other: Any) -> list[str]:
    """Numbers of two models that differ; but for textures, which no physics depends on."""
    names = [name for name in dir(one) if not name.startswith(("_", "tex", "ntex", "nbuffer", "signature"))]
    numeric = [name for name in names if isinstance(getattr(one, name), np.ndarray | int | float | bytes)]
    assert len(numeric) > 300
    different = [name for name in numeric if not np.array_equal(getattr(one, name), getattr(other, name))]
    for part in ("stat", "opt"):
        fields = [name for name in dir(getattr(one, part)) if not name.startswith("_")]
        pairs = [(name, getattr(getattr(one, part), name), getattr(getattr(other, part), name)) for name in fields]
        different += [f"{part}.{name}" for name, a, b in pairs if not callable(a) and not np.array_equal(a, b)]
    return different


def test_nominal_values_are_the_suites_own_model() -> None:
    assert differences(moved(), walker.Physics.from_xml_string(*walker.get_model_and_assets()).model.ptr) == []


def test_the_model_to_look_at_is_the_suites_own_with_textures() -> None:
    suite = walker.Physics.from_xml_string(*walker.get_model_and_assets()).model.ptr
    model = textured_model()
    assert differences(model, suite) == []
    np.testing.assert_array_equal(model.tex_data, suite.tex_data)


@settings(max_examples=25, deadline=None)
@given(st.tuples(*(st.floats(parameter.low, parameter.high) for parameter in PARAMETERS)))
def test_a_model_given_other_values_is_the_model_compiled_with_them(values: Any) -> None:
    model = textured_model()
    assign(model, (0.5, 0.1, 3.0, 0.2))
    assign(model, values)
    assert differences(model, model_of(values)) == []


def capsule(radius: float, half_length: float) -> float:
    return float(np.pi * radius**2 * (2 * half_length + 4 / 3 * radius))


@pytest.mark.parametrize(
    ("name", "value", "geom", "radius"),
    [("thigh_length", 0.4, "left_thigh", 0.05), ("torso_length", 0.6, "torso", 0.07)],
)
def test_mass_and_inertia_follow_a_length(name: str, value: float, geom: str, radius: float) -> None:
    model, before = moved(**{name: value}), moved()
    body = model.body(geom).id
    mass = DENSITY * capsule(radius, value)
    assert model.body_mass[body] == pytest.approx(mass, rel=1e-9)
    assert model.body_inertia[body].max() > before.body_inertia[body].max() * (value / NOMINAL[name]) ** 2
    unmoved = [i for i in range(model.nbody) if geom.removeprefix("left_") not in model.body(i).name]
    np.testing.assert_array_equal(model.body_mass[unmoved], before.body_mass[unmoved])


def test_limbs_hang_where_the_longer_one_ends() -> None:
    model = moved(thigh_length=0.5, torso_length=0.7)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    torso = data.xpos[model.body("torso").id]
    for side, across in (("right", -0.05), ("left", 0.05)):
        thigh = data.xpos[model.body(f"{side}_thigh").id]
        np.testing.assert_allclose(thigh, torso + [0.0, across, -0.7], atol=1e-12)
        knee = data.xanchor[model.joint(f"{side}_knee").id]
        np.testing.assert_allclose(knee, thigh - [0.0, 0.0, 2 * 0.5], atol=1e-12)


def test_both_thighs_on_one_side_as_in_the_real_world_suite_move_the_same_in_the_plane() -> None:
    text = template(walker.get_model_and_assets()[0])
    assert text.count("0 .05 -{torso_length!r}") == 1
    numbers = {**NOMINAL, "torso_length": 0.5, "knee": 0.7}
    assets = walker.get_model_and_assets()[1]
    runs = []
    for source in (text, text.replace("0 .05 -{torso", "0 -.05 -{torso")):
        model = mujoco.MjModel.from_xml_string(source.format(**numbers), assets)
        data = mujoco.MjData(model)
        controls = np.random.default_rng(0).uniform(-1, 1, (50, 6))
        for control in controls:
            data.ctrl[:] = control
            mujoco.mj_step(model, data, nstep=10)
        assert data.ncon > 0
        runs.append(np.concatenate([data.qpos, data.qvel]))
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-6)


def test_damping_moves_the_six_joints_that_have_motors() -> None:
    damping = moved(joint_damping=7.0).dof_damping
    np.testing.assert_array_equal(damping, [0.0] * 3 + [7.0] * 6)


@pytest.mark.parametrize("friction", [0.01, 2.0])
def test_friction_moves_both_sides_of_every_contact(friction: float) -> None:
    model = moved(contact_friction=friction)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=400)  # it falls down
    assert data.ncon > 0
    np.testing.assert_array_equal(data.contact.friction[:, 0], friction)


def test_a_value_is_compiled_once_and_few_are_kept() -> None:
    assert moved(thigh_length=0.31) is moved(thigh_length=0.31)
    assert model_of.cache_info().maxsize == 256
