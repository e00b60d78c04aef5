"""The walker's model, with lengths, damping and friction of one's choosing.

Nearly all of the time that compiling takes goes into textures, and no physics depends on them. So each
value is compiled once with textures of a single pixel, and a model that is also to be looked at
takes its numbers over from there.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from ewok.worlds.perturbation import Perturbation

if TYPE_CHECKING:
    from mujoco import MjModel

PARAMETERS = (
    Perturbation(name="thigh_length", unit="m", nominal=0.225, low=0.1, high=0.5, above=0.0, note="half of it"),
    Perturbation(name="torso_length", unit="m", nominal=0.3, low=0.1, high=0.7, above=0.0, note="half of it"),
    Perturbation(name="joint_damping", unit="N m s", nominal=0.1, low=0.1, high=10.0, least=0.0, log=True),
    Perturbation(
        name="contact_friction", nominal=0.7, low=0.01, high=2.0, least=0.0, log=True, note="not in the paper"
    ),
)
NOMINAL = {parameter.name: parameter.nominal for parameter in PARAMETERS}
Values = tuple[float, float, float, float]  # in this order

_SHIN = 0.25  # m, half of it
_ACTUATED = slice(3, None)  # hips, knees and ankles; the root comes first
_NUM_MODELS = 256  # 0.1 MB each
_STATISTICS = ("meaninertia", "meanmass", "meansize")  # the solver scales by the first


def values_in(named: Mapping[str, float]) -> Values:
    """The walker's parameters among these, in order."""
    thigh_length, torso_length, joint_damping, contact_friction = (float(named[name]) for name in NOMINAL)
    return thigh_length, torso_length, joint_damping, contact_friction


_NOMINAL = values_in(NOMINAL)


def template(xml: bytes) -> str:
    """The walker's XML with a field for each parameter, where the Real-World RL suite writes it.

    Lengths are half-lengths of capsules, as in the file; what hangs on a limb moves with its end. But
    each thigh keeps its own side of the torso, where the suite puts both on the right. In the plane
    that is the same, and so the nominal values give exactly the nominal model.
    """
    root = ElementTree.fromstring(xml)
    for geom in root.findall("./worldbody/body/body/geom"):
        geom.set("pos", "0 0 -{thigh_length!r}")
        geom.set("size", "0.05 {thigh_length!r}")
    for leg in root.findall("./worldbody/body/body/body"):
        leg.set("pos", "0 0 -{knee!r}")
    _one(root, "./worldbody/body/geom").set("size", "0.07 {torso_length!r}")
    for thigh in root.findall("./worldbody/body/body"):
        side = thigh.attrib["pos"].split()[1]
        thigh.set("pos", f"0 {side} -{{torso_length!r}}")
    _one(root, "./default/joint").set("damping", "{joint_damping!r}")  # those of the root have their own, 0
    for path in ("./default/geom", "./worldbody/geom"):  # both sides of every contact
        _one(root, path).set("friction", "{contact_friction!r} .1 .1")
    return ElementTree.tostring(root, encoding="unicode")


def _one(root: ElementTree.Element, path: str) -> ElementTree.Element:
    found = root.find(path)
    assert found is not None, path
    return found


@lru_cache(maxsize=1)
def _sources() -> tuple[str, dict[str, bytes]]:
    """The template, and what it includes, with textures of a single pixel."""
    from dm_control.suite import walker

    xml, assets = walker.get_model_and_assets()
    small = {name: re.sub(rb'(width|height)="\d+"', rb'\1="1"', asset) for name, asset in assets.items()}
    return template(xml), small


@lru_cache(maxsize=_NUM_MODELS)
def model_of(values: Values) -> MjModel:
    """The compiled model, with hardly a texture. It is shared: never change it."""
    from mujoco import MjModel

    text, assets = _sources()
    named = dict(zip(NOMINAL, values, strict=True))
    return MjModel.from_xml_string(text.format(**named, knee=2 * named["thigh_length"] + _SHIN), assets)


@lru_cache(maxsize=1)
def _textured() -> MjModel:
    from dm_control.suite import walker
    from mujoco import MjModel

    xml, assets = walker.get_model_and_assets()
    return MjModel.from_xml_string(xml.decode(), assets)


def textured_model() -> MjModel:
    """A nominal model of one's own, textures and all."""
    return copy.copy(_textured())


def assign(model: MjModel, values: Values) -> None:
    """Give a model other values, in place, as if it had been compiled with them."""
    thigh_length, torso_length, joint_damping, contact_friction = values
    source = model_of((thigh_length, torso_length, *_NOMINAL[2:]))
    for name in _shaped():
        np.copyto(getattr(model, name), getattr(source, name))
    for name in _STATISTICS:
        setattr(model.stat, name, getattr(source.stat, name))
    model.dof_damping[_ACTUATED] = joint_damping
    model.geom_friction[:, 0] = contact_friction


@lru_cache(maxsize=1)
def _shaped() -> tuple[str, ...]:
    """The arrays of a model that depend on lengths: masses and inertias, places, sizes, and what follows from them."""
    nominal, other = model_of(_NOMINAL), model_of((0.3, 0.4, *_NOMINAL[2:]))
    public = [name for name in dir(nominal) if not name.startswith("_")]
    arrays = [name for name in public if isinstance(getattr(nominal, name), np.ndarray)]
    return tuple(name for name in arrays if not np.array_equal(getattr(nominal, name), getattr(other, name)))
