"""Somebody's saved model, loaded: from Stable-Baselines3, sb3-contrib or SBX, trained here or elsewhere."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import gymnasium as gym
import numpy as np

from ewok.errors import ArgumentError, EwokError, EwokWarning, MissingExtraError, require_package
from ewok.lab.archive import CLASSES, algorithm_of, found, settings_of
from ewok.lab.frames import ONE, Frames, frames_of
from ewok.named import named

NOTICE = "Loading a model or a normaliser can run code that is in the file: load only those of people you trust."

_COMMON_NAMES = ("model", "best_model", "final_model")

# What training needs and flying does not: left out, it cannot fail to load, and takes no memory.
_UNNEEDED: dict[str, Any] = {
    "learning_rate": 0.0,
    "lr_schedule": 0.0,
    "clip_range": 0.0,
    "clip_range_vf": None,
    "exploration_schedule": None,
    "action_noise": None,
    "buffer_size": 1,
    "replay_buffer_class": None,
    "replay_buffer_kwargs": {},
    "optimize_memory_usage": False,
    "tensorboard_log": None,
    "ep_info_buffer": None,
    "ep_success_buffer": None,
}


@final
@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model, and the normaliser it was trained behind.

    Attributes:
        name: what to call it: the file's name, or its folder's where the file's says nothing.
        algorithm: what saved it, as in "PPO" or "sbx.SAC".
        agent: the model.
        normaliser: the `VecNormalize` it was trained behind; None where there was none.
    """

    name: str
    algorithm: str
    agent: Any
    normaliser: Any = None


def load(path: Path, *, algo: str | None = None, vecnormalize: Path | None = None) -> SavedModel:
    """Load a saved model. Its pickles, and its normaliser's, can run code: see `NOTICE`.

    Args:
        path: of the archive.
        algo: which algorithm saved it, where the file does not tell.
        vecnormalize: the file of its `VecNormalize`.
    """
    path, algorithm, normaliser = recognised(path, algo, vecnormalize)
    agent = _loaded(path, algorithm)
    return SavedModel(_called(path), algorithm, agent, None if normaliser is None else _normaliser(normaliser))


def recognised(path: Path, algo: str | None, vecnormalize: Path | None) -> tuple[Path, str, Path | None]:
    """The files that are there, and the algorithm: all that can be known, and be wrong, before anything is loaded."""
    path = found(path, "model")
    normaliser = None if vecnormalize is None else found(vecnormalize, "vecnormalize", ".pkl")
    return path, algorithm_of(path, settings_of(path), algo), normaliser


def _called(path: Path) -> str:
    """What to call a model by: many are saved as `model.zip`, in a folder whose name tells more."""
    return path.resolve().parent.name if path.stem in _COMMON_NAMES else path.stem


def _loaded(path: Path, algorithm: str) -> Any:
    place = CLASSES.get(algorithm, algorithm)
    if algorithm in CLASSES:
        package = place.partition(":")[0]
        require_package(package, "sbx" if package == "sbx" else "sb3")
    kind = named(place, "algo")
    try:
        return kind.load(path, device="cpu", custom_objects=dict(_UNNEEDED))
    except (EwokError, OSError):
        raise
    except Exception as error:  # whatever the file, and the code in it, raise
        raise ArgumentError(
            f"`model` must be a model that {algorithm} can load, but {path} cannot be: {_said(error)} "
            "It may need the versions it was saved with (see system_info.txt in it), or another --algo."
        ) from error


def _normaliser(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            normaliser = pickle.load(file)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{path} needs {error.name}: pip install 'ewok[sb3]'") from error
    except OSError:
        raise
    except Exception as error:  # pickles raise whatever they like
        raise ArgumentError(
            f"`vecnormalize` must be a file that VecNormalize.save wrote, but {path} cannot be read: {_said(error)}"
        ) from error
    if not hasattr(normaliser, "normalize_obs"):
        raise ArgumentError(
            f"`vecnormalize` must be a file that VecNormalize.save wrote, but {path} holds a "
            f"{type(normaliser).__name__}. Check the path."
        )
    normaliser.training = False
    return normaliser


def frames_for(
    model: SavedModel, observation_space: gym.Space[Any], action_space: gym.Space[Any], world: str
) -> Frames:
    """How many of a world's observations the model sees at once; an error where its spaces are not the world's.

    Raises:
        ArgumentError: which says both spaces.
    """
    theirs = model.agent.observation_space, model.agent.action_space
    frames = frames_of(theirs[0], observation_space)
    if frames is None or not _acts_alike(theirs[1], action_space):
        what = "action" if frames is not None else "observation"
        mine, other = (theirs[1], action_space) if frames is not None else (theirs[0], observation_space)
        raise ArgumentError(
            f"`model` must be a model of the world {world}, but its {what} space is {mine}, and the world's is "
            f"{other}. Name the world it was trained in, and wrap that as it was wrapped in training: "
            "--world module:object."
        )
    if frames == ONE and not _bounded_alike(theirs[0], observation_space):
        warnings.warn(
            f"the model's observations have the shape of those of the world {world}, but not their bounds: it was "
            f"trained on {theirs[0]}, and the world has {observation_space}.",
            EwokWarning,
            stacklevel=2,
        )
    return frames


def _acts_alike(one: gym.Space[Any], other: gym.Space[Any]) -> bool:
    if isinstance(one, gym.spaces.Box) and isinstance(other, gym.spaces.Box):
        same = one.shape == other.shape
        return same and np.allclose(one.low, other.low) and np.allclose(one.high, other.high)
    return one == other


def _bounded_alike(one: gym.Space[Any], other: gym.Space[Any]) -> bool:
    if not isinstance(one, gym.spaces.Box) or not isinstance(other, gym.spaces.Box) or one.shape != other.shape:
        return True
    return np.allclose(one.low, other.low) and np.allclose(one.high, other.high)


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}{'...' if len(text) > 200 else ''}".rstrip(".") + "."
