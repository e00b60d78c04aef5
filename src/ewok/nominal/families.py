"""Which simulators are known by heart: how each is drawn from and saved. One file per family says how.

Named as text, so that nothing is imported that is not installed.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ewok.errors import SnapshotError
from ewok.nominal import classic
from ewok.nominal.atari import AtariSaver
from ewok.nominal.copying import how_to_save
from ewok.nominal.dm_control import dm_control_kernel, dm_control_saver
from ewok.nominal.kernel import NominalKernel, register_kernel
from ewok.nominal.mujoco import MujocoSaver, mujoco_kernel
from ewok.nominal.restore import RestoreKernel
from ewok.nominal.snapshot import AttributeSaver, register_saver
from ewok.nominal.toy_text import table_kernel

_CLASSIC: dict[str, classic.Judge] = {
    "cartpole:CartPoleEnv": classic.CartPoleJudge(),
    "acrobot:AcrobotEnv": classic.AcrobotJudge(),
    "mountain_car:MountainCarEnv": classic.MountainCarJudge(),
    "continuous_mountain_car:Continuous_MountainCarEnv": classic.ContinuousMountainCarJudge(),
    "pendulum:PendulumEnv": classic.PendulumJudge(),
}

_TOY_TEXT: dict[str, tuple[str, ...]] = {
    "frozen_lake:FrozenLakeEnv": ("s", "lastaction"),
    "cliffwalking:CliffWalkingEnv": ("s", "lastaction"),
    "taxi:TaxiEnv": ("s", "lastaction", "fickle_step", "taxi_orientation"),
    "blackjack:BlackjackEnv": ("player", "dealer", "dealer_top_card_suit", "dealer_top_card_value_str"),
}

_BOX2D = ("bipedal_walker:BipedalWalker", "car_racing:CarRacing", "lunar_lander:LunarLander")


def _classic_kernel(path: str, judge: classic.Judge) -> Any:
    def make(env: Any) -> NominalKernel:
        # A subclass may reward or move otherwise, and torque noise is drawn inside the step.
        exactly = f"{type(env).__module__}:{type(env).__qualname__}" == path
        noisy = getattr(env, "torque_noise_max", 0.0) > 0
        return classic.ClassicKernel(env, judge) if exactly and not noisy else RestoreKernel(env)

    return make


def _refuse_box2d(env: Any) -> NoReturn:
    reason = "Box2D has no way to save its contacts, and its bodies alone miss the true trajectory"
    raise SnapshotError(how_to_save(type(env).__name__, reason))


def register_all() -> None:
    for name, judge in _CLASSIC.items():
        path = f"gymnasium.envs.classic_control.{name}"
        register_kernel(path, _classic_kernel(path, judge))
        register_saver(path, lambda env, names=judge.moving: AttributeSaver(names))  # type: ignore[misc]
    for name, moving in _TOY_TEXT.items():
        path = f"gymnasium.envs.toy_text.{name}"
        register_saver(path, lambda env, names=moving: AttributeSaver(names))  # type: ignore[misc]
        if "blackjack" not in name:
            register_kernel(path, table_kernel)
    for name in _BOX2D:
        register_kernel(f"gymnasium.envs.box2d.{name}", _refuse_box2d)
        register_saver(f"gymnasium.envs.box2d.{name}", _refuse_box2d, exactly=False)
    register_kernel("gymnasium.envs.mujoco.mujoco_env:MujocoEnv", mujoco_kernel)
    register_saver("gymnasium.envs.mujoco.mujoco_env:MujocoEnv", lambda env: MujocoSaver(), exactly=False)
    shimmy = "shimmy.dm_control_compatibility:DmControlCompatibilityV0"
    register_kernel(shimmy, dm_control_kernel)
    register_saver(shimmy, dm_control_saver)
    register_saver("ale_py.env:AtariEnv", lambda env: AtariSaver(), exactly=False)
