"""Saved models as files: which algorithm wrote one, read from its text alone; nothing is unpickled here.

An archive of Stable-Baselines3, sb3-contrib or SBX does not name its algorithm. It names the module of its policy's
class, and the settings it was made with; together they tell it, unless the policy is a class of somebody's own.
"""

from __future__ import annotations

import json
import zipfile
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ewok.errors import ArgumentError, require_known

# By the module of the policy's class; what several algorithms share is told by their settings, below.
_POLICIES = {
    "stable_baselines3.dqn.policies": "DQN",
    "stable_baselines3.sac.policies": "SAC",
    "stable_baselines3.td3.policies": "TD3",
    "sb3_contrib.ars.policies": "ARS",
    "sb3_contrib.crossq.policies": "CrossQ",
    "sb3_contrib.common.maskable.policies": "MaskablePPO",
    "sb3_contrib.qrdqn.policies": "QRDQN",
    "sb3_contrib.common.recurrent.policies": "RecurrentPPO",
    "sb3_contrib.tqc.policies": "TQC",
    "sbx.ppo.policies": "sbx.PPO",
    "sbx.dqn.policies": "sbx.DQN",
    "sbx.sac.policies": "sbx.SAC",
    "sbx.td3.policies": "sbx.TD3",
    "sbx.tqc.policies": "sbx.TQC",
    "sbx.crossq.policies": "sbx.CrossQ",
}
_ACTOR_CRITIC = "stable_baselines3.common.policies"
_MODULES = {"ARS", "CrossQ", "MaskablePPO", "QRDQN", "RecurrentPPO", "TQC", "TRPO"}
_PLAIN = ("A2C", "DDPG", "DQN", "PPO", "SAC", "TD3")
CLASSES = {
    **{name: f"stable_baselines3:{name}" for name in _PLAIN},
    **{name: f"sb3_contrib:{name}" for name in sorted(_MODULES)},
    **{f"sbx.{name}": f"sbx:{name}" for name in ("CrossQ", "DDPG", "DQN", "PPO", "SAC", "TD3", "TQC")},
}


def found(path: Path, argument: str, suffix: str = ".zip") -> Path:
    """The file, with its suffix where it was left out; else an error with the nearest name there is."""
    if path.is_file():
        return path
    if path.is_dir():
        raise ArgumentError(f"`{argument}` must be a file, but {path} is a folder. {_inside(path, suffix)}")
    longer = path.with_name(path.name + suffix)
    if longer.is_file():
        return longer
    folder = path.parent
    if not folder.is_dir():
        raise ArgumentError(f"`{argument}` must be a file, but there is no folder {folder}. Check the path.")
    near = get_close_matches(path.name, [other.name for other in folder.iterdir() if other.is_file()], n=1)
    guess = f"Did you mean {folder / near[0]}?" if near else "Check the path."
    raise ArgumentError(f"`{argument}` must be a file, but there is none at {path}. {guess}")


def settings_of(path: Path) -> dict[str, Any]:
    """What a saved model says of itself in plain text. What it keeps as pickles stays text."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            settings = json.loads(archive.read("data")) if "data" in names else None
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise _unsaved(path, "is none, or a damaged one") from error
    if settings is None:
        raise _unsaved(path, f"is an archive of {', '.join(names[:4]) or 'nothing'}")
    if not isinstance(settings, dict) or "observation_space" not in settings or "policy_class" not in settings:
        raise _unsaved(path, "is an archive of something else")
    return settings


def algorithm_of(path: Path, settings: dict[str, Any], given: str | None = None) -> str:
    """The algorithm that saved the model: as `given` says, or as the file tells.

    Args:
        path: of the file.
        settings: what it says of itself.
        given: a key of `CLASSES`, in whatever case, or "module:class" of an algorithm of yours.
    """
    policy = settings["policy_class"]
    module = str(policy.get("__module__", "")) if isinstance(policy, dict) else ""
    told = _actor_critic(settings) if module == _ACTOR_CRITIC else _POLICIES.get(module)
    told = "DDPG" if told == "TD3" and _is_ddpg(settings) else told
    if given is None:
        if told is None:
            raise ArgumentError(
                f"`algo` must be given: {path} does not tell which algorithm saved it (its policy is a class of "
                f"{module or 'an unknown module'}). Add --algo with one of: {', '.join(CLASSES)}; or module:class."
            )
        return told
    if ":" in given:
        return given
    names = {name.lower(): name for name in CLASSES}
    if given.lower() not in names:
        require_known(given.upper(), CLASSES, "algo", "an algorithm")
    name = names[given.lower()]
    if told is not None and told.startswith("sbx.") and not name.startswith("sbx."):
        name = f"sbx.{name}"  # the two libraries have the same names
    if told is not None and {told, name} not in ({told}, {"TD3", "DDPG"}, {"sbx.TD3", "sbx.DDPG"}):
        raise ArgumentError(f"`algo` must be {told}, which saved {path}, but it is {given!r}. Leave it out.")
    return name


def _actor_critic(settings: dict[str, Any]) -> str | None:
    """These share the class of their policy, but not their settings."""
    if "clip_range" in settings:
        return "PPO"
    if "cg_max_steps" in settings:
        return "TRPO"
    return "A2C" if "normalize_advantage" in settings else None


def _is_ddpg(settings: dict[str, Any]) -> bool:
    """DDPG is TD3 with one critic, whose actor never waits."""
    networks = settings.get("policy_kwargs")
    one = isinstance(networks, dict) and str(networks.get("n_critics")) == "1"
    return one and settings.get("policy_delay") == 1


def _unsaved(path: Path, what: str) -> ArgumentError:
    return ArgumentError(
        f"`model` must be a model saved by Stable-Baselines3, sb3-contrib or SBX (model.save), but {path} {what}. "
        "Check the path."
    )


def _inside(folder: Path, suffix: str) -> str:
    inside = sorted(folder.glob(f"*{suffix}"))
    return f"There is {inside[0]} in it." if inside else "Name a file in it."
