"""What a saved model tells of itself, without running any of it."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")

import stable_baselines3 as sb3

from ewok.errors import ArgumentError, EwokError
from ewok.lab.archive import CLASSES, algorithm_of, found, settings_of
from tests.lab.models import save_ppo

DISCRETE, CONTINUOUS = "CartPole-v1", "Pendulum-v1"


def told(path: Path, given: str | None = None) -> str:
    return algorithm_of(path, settings_of(path), given)


def rewritten(path: Path, **changes: Any) -> Path:
    """The archive with some of its settings changed."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["data"] = json.dumps({**json.loads(files["data"]), **changes}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make(name: str, folder: Path) -> Path:
    """A model of this algorithm, as it is when nobody has trained it, saved."""
    library, _, kind = CLASSES[name].partition(":")
    cls = getattr(pytest.importorskip(library), kind)
    continuous = kind in ("SAC", "TD3", "DDPG", "TQC", "CrossQ")
    policy = "MlpLstmPolicy" if kind == "RecurrentPPO" else "MlpPolicy"
    options: dict[str, Any] = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu"}
    if continuous or "DQN" in kind:
        options["buffer_size"] = 10
    env: Any = CONTINUOUS if continuous else DISCRETE
    cls(policy, env, seed=0, **(options if kind not in ("ARS", "DDPG") else {})).save(folder / "model")
    return folder / "model.zip"


@pytest.mark.parametrize("name", ["A2C", "DDPG", "DQN", "PPO", "SAC", "TD3"])
def test_the_algorithms_of_the_library_are_told(name: str, tmp_path: Path) -> None:
    assert told(make(name, tmp_path)) == name


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"A2C", "DDPG", "DQN", "PPO", "SAC", "TD3", "MaskablePPO"}))
def test_those_of_its_relatives_are_told(name: str, tmp_path: Path) -> None:
    assert told(make(name, tmp_path)) in {name, name.replace("DDPG", "TD3")}, "SBX's DDPG saves what its TD3 saves"


def test_telling_runs_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_ppo(tmp_path)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a pickle was opened")

    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr("cloudpickle.loads", refuse)
    assert told(path) == "PPO"


def test_a_policy_of_somebodys_own_does_not_tell_and_the_message_says_what_to_add(tmp_path: Path) -> None:
    path = rewritten(save_ppo(tmp_path), policy_class={"__module__": "somebody.policies"})
    with pytest.raises(ArgumentError, match=r"does not tell .* somebody\.policies.* --algo with one of: A2C"):
        told(path)
    assert told(path, "ppo") == "PPO"
    assert told(path, "mine:Own") == "mine:Own"


def test_what_is_given_must_not_contradict_the_file(tmp_path: Path) -> None:
    path = save_ppo(tmp_path)
    with pytest.raises(ArgumentError, match="must be PPO, which saved .* but it is 'SAC'"):
        told(path, "SAC")
    with pytest.raises(ArgumentError, match="Did you mean 'PPO'"):
        told(path, "ppoo")
    sbx = rewritten(path, policy_class={"__module__": "sbx.ppo.policies"})
    assert told(sbx, "PPO") == "sbx.PPO", "the two libraries share names"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not an archive", "is none, or a damaged one"),
        (b"", "is none, or a damaged one"),
        ({"weights.bin": b"1"}, r"is an archive of weights\.bin"),
        ({"data": b"[1, 2]"}, "is an archive of something else"),
        ({"data": b"{"}, "is none, or a damaged one"),
        ({}, "is an archive of nothing"),
    ],
)
def test_files_of_another_kind_are_named_as_such(content: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    with pytest.raises(ArgumentError, match=message):
        settings_of(path)


def test_truncated_archives_are_refused(tmp_path: Path) -> None:
    path = save_ppo(tmp_path)
    whole = path.read_bytes()
    for kept in (10, len(whole) // 10, len(whole) // 2, len(whole) - 100):
        path.write_bytes(whole[:kept])
        with pytest.raises(ArgumentError, match="must be a model saved by"):
            settings_of(path)


def test_paths_are_forgiving_and_their_errors_name_what_is_there(tmp_path: Path) -> None:
    path = save_ppo(tmp_path, name="cart")
    assert found(tmp_path / "cart", "model") == path
    for wrong, message in (
        (tmp_path / "cat.zip", f"Did you mean {path}"),
        (tmp_path / "nothing-like-it", "Check the path"),
        (tmp_path, f"is a folder. There is {path}"),
        (tmp_path / "no" / "cart.zip", "there is no folder"),
    ):
        with pytest.raises(EwokError, match=message):
            found(wrong, "model")


def test_every_algorithm_that_can_be_given_exists() -> None:
    for place in CLASSES.values():
        module, _, name = place.partition(":")
        if module == "stable_baselines3":
            assert hasattr(sb3, name)
