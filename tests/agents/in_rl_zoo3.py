"""RL Baselines3 Zoo, from YAML alone: training is bound and logged, evaluation stays nominal.

Run by `test_rl_zoo3.py`.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import pytest

import ewok

from .worlds import innermost, member_kernel, needs

torch = needs("torch", "sb3")
needs("rl_zoo3", "dev")
managers = needs("rl_zoo3.exp_manager", "dev")

from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.vec_env import VecNormalize

from ewok.agents.sb3 import SubprocWorstKernel
from ewok.nominal.layers import layers_of

torch.set_num_threads(1)

YAML = Path(__file__).parents[2] / "examples" / "rl_zoo3.yml"


def manager(tmp_path: Path, config: Path = YAML, **options: Any) -> Any:
    given: dict[str, Any] = {
        "log_folder": str(tmp_path),
        "tensorboard_log": "",
        "n_timesteps": 128,
        "eval_freq": 100,  # after which the logger starts anew
        "n_eval_episodes": 1,
        "seed": 0,
        "device": "cpu",
        "verbose": 0,
        "log_interval": -2,  # none, so that what would be logged can be looked at
        "config": str(config),
    }
    return managers.ExperimentManager(argparse.Namespace(), "ppo", "CartPole-v1", **(given | options))


def kernels(vector: Any) -> list[ewok.WorstKernel]:
    return [member_kernel(env) for env in innermost(vector).envs]


@pytest.mark.filterwarnings("ignore")  # the zoo's own
def test_yaml_alone(tmp_path: Path) -> None:
    experiment = manager(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ewok.EwokWarning)
        model, _ = experiment.setup_experiment()
        experiment.learn(model)
    trained = kernels(model.get_env())
    assert [(k.bound, k.num_samples, k.kappa) for k in trained] == [(True, 15, 0.2)] * 2
    assert isinstance(model.get_env(), VecNormalize)
    assert not any(layers_of(kernel.env).watched for kernel in trained), "its time limit is known to do no harm"
    assert model.logger.name_to_value["ewok/kl"] > 0.0
    evaluation = next(c for c in experiment.callbacks if isinstance(c, EvalCallback)).eval_env
    nominal = kernels(evaluation)
    assert nominal
    assert not any(kernel.bound for kernel in nominal)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_processes_of_their_own_from_yaml_alone(tmp_path: Path) -> None:
    config = tmp_path / "apart.yml"
    config.write_text(YAML.read_text() + "  vec_env_wrapper: ewok.agents.sb3.SubprocWorstKernel\n")
    experiment = manager(tmp_path, config, vec_env_type="subproc")
    model, _ = experiment.setup_experiment()
    vector = model.get_env()
    while not isinstance(vector, SubprocWorstKernel):
        vector = vector.venv
    experiment.learn(model)
    assert all(kernel.critic is not None for kernel in vector.kernels)
