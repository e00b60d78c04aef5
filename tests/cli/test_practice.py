"""`ewok stress`, as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("stable_baselines3", reason="needs the sb3 extra")
pytest.importorskip("matplotlib", reason="needs the lab extra")

from ewok.cli import app
from ewok.cli.root import MISTAKE
from tests.lab.models import save_balancer, save_ppo, vector
from tests.lab.test_archive import rewritten

QUICK = ["--episodes", "3", "--mixtures", "2"]


def run(*args: Any) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.stdout.split()), " ".join(result.stderr.split())


def test_two_models_are_put_under_stress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good, poor = save_balancer(tmp_path), save_ppo(tmp_path, name="poor")
    code, out, err = run("stress", good, "--world", "cartpole", "--compare", poor, *QUICK)
    assert code == 0
    assert "balancer is " in out
    assert "In the nominal world cartpole balancer (PPO) returns 500; random actions return" in out
    assert "against poor, in the same episodes: better at" in out
    assert "page: stress-balancer/stress.html" in out
    assert (tmp_path / "stress-balancer" / "stress.html").is_file()
    assert "can run code" in err


def test_models_that_lie_in_a_folder_each_are_called_by_it(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        save_ppo(tmp_path / name)
    one, other = (tmp_path / name / "model.zip" for name in ("first", "second"))
    out = run("stress", one, "--world", "cartpole", "--compare", other, "--out", tmp_path / "out", *QUICK)[1]
    assert "first against second, in the same episodes: better at 0 of 46 values, worse at 0" in out
    again = run("stress", one, "--world", "cartpole", "--compare", one, "--out", tmp_path / "out", *QUICK)[1]
    assert "first against first (2)" in again


def test_a_normaliser_beside_the_model_is_pointed_at_but_not_opened(tmp_path: Path) -> None:
    (tmp_path / "vecnormalize.pkl").write_bytes(b"not to be read")
    code, _, err = run("stress", save_ppo(tmp_path), "--world", "cartpole", "--out", tmp_path / "out", *QUICK)
    assert code == 0
    assert "add --vecnormalize" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["none.zip", "--world", "cartpole"], "there is none at"),
        ([".", "--world", "cartpole"], "is a folder"),
        (["text.zip", "--world", "cartpole"], "must be a model saved by"),
        (["model.zip", "--world", "cartpol"], "Did you mean 'cartpole'"),
        (["model.zip", "--world", "nowhere:world"], "nowhere"),
        (
            ["model.zip", "--world", "pendulum"],
            "a model of the world pendulum, but its observation space is Box",
        ),
        (["model.zip", "--world", "cartpole", "--algo", "SAC"], "must be PPO, which saved"),
        (["strange.zip", "--world", "cartpole"], "Add --algo with one of"),
        (["model.zip", "--world", "cartpole", "--parameters", "gravty"], "Did you mean 'gravity'"),
        (["model.zip", "--world", "cartpole", "--episodes", "1"], "`episodes` must be at least 2"),
        (["model.zip", "--world", "cartpole", "--out", "text.zip"], "`out` must be a folder"),
        (["model.zip", "--world", "cartpole", "--vecnormalize", "text.zip"], "cannot be read"),
        (["model.zip", "--world", "cartpole", "--compare", "none.zip"], "there is none at"),
    ],
)
def test_mistakes_are_a_line(args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_ppo(tmp_path)
    rewritten(save_ppo(tmp_path, name="strange"), policy_class={"__module__": "somebody.policies"})
    (tmp_path / "text.zip").write_text("hello")
    code, out, err = run("stress", *args)
    assert (code, out) == (MISTAKE, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("wrong", [["--algo", "SAC"], ["--compare", "none.zip"], ["--out", "text"], ["--world", "x"]])
def test_what_can_be_known_before_loading_is_the_only_line(
    wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_ppo(tmp_path)
    (tmp_path / "text").write_text("hello")
    monkeypatch.setattr("ewok.lab.saved._loaded", None)  # so that loading would show
    result = CliRunner().invoke(app, ["stress", "model.zip", "--world", "cartpole", *wrong])
    assert result.exit_code == MISTAKE
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_walker_of_another_library_with_its_normaliser(tmp_path: Path) -> None:
    sbx = pytest.importorskip("sbx")
    pytest.importorskip("shimmy")
    from stable_baselines3.common.vec_env import VecNormalize

    from ewok import worlds

    envs = VecNormalize(vector(1, worlds.get("walker-walk")))
    sbx.PPO("MlpPolicy", envs, seed=0, n_steps=64, batch_size=64).learn(64).save(tmp_path / "model")
    envs.save(str(tmp_path / "norm.pkl"))
    args = ["--world", "walker-walk", "--vecnormalize", tmp_path / "norm.pkl", "--parameters", "noise_mean"]
    code, out, _ = run("stress", tmp_path / "model.zip", *args, "--episodes", "2", "--mixtures", "0", "--out", tmp_path)
    assert code == 0
    assert "In the nominal world walker-walk" in out


def test_models_are_filmed_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = save_balancer(tmp_path), save_ppo(tmp_path, name="poor")
    shift = ["--at", "gravity=20", "--at", "pole_length=0.7"]
    code, out, _ = run("video", one, other, "--world", "cartpole", *shift, "--out", "film.gif", "--steps", 20)
    assert code == 0
    assert out.startswith("balancer: 20 poor: ")
    assert out.endswith("film: film.gif")
    assert (tmp_path / "film.gif").is_file()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["model.zip"], "`world` must be given for models"),
        (["none.zip", "--world", "cartpole"], "there is none at"),
        (["."], "has no study.json"),
        (["model.zip", "--world", "cartpole", "--at", "gravity"], "`at` must be parameter=value"),
        (["model.zip", "--world", "cartpole", "--at", "gravty=3"], "Did you mean 'gravity'"),
        (["model.zip", "--world", "cartpole", "--at", "gravity=-3"], "`gravity` must be a finite number at least 0"),
        (["model.zip", "--world", "cartpole", "--out", "film.avi"], "a kind of film, by its ending"),
        (
            ["model.zip", "--world", "cartpole", "--algo", "PPO", "--algo", "PPO"],
            "given at most once for each model",
        ),
        (["model.zip", "--world", "pendulum"], "must be a model of the world pendulum"),
    ],
)
def test_mistakes_in_a_film_are_a_line(
    args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_ppo(tmp_path)
    code, out, err = run("video", *args)
    assert (code, out) == (MISTAKE, "")
    assert message in err
