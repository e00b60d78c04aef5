"""Trials as tasks of a Ray cluster. Results come back to the command and are stored by it: no disk is shared."""

from __future__ import annotations

import io
import logging
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, final

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when Ray is imported

import ray
from ray.exceptions import RayError, RaySystemError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ewok.errors import EwokError
from ewok.lab.events import Done, Event, Failure, Lost, Progress, Quiet, Started, WorkPlaces
from ewok.lab.local import environment
from ewok.lab.plan import Trial
from ewok.lab.worker import attempt

_PATIENCE = 1.0  # seconds between two looks
_ANSWER = 5.0  # seconds for an address to answer
_HEALTH = 15.0  # seconds for what answers to say that it is Ray
_RETRIES = 3  # after a lost worker or node
_PORT = 6379


class NoClusterError(EwokError, ConnectionError):
    """No Ray answers at the address, or it does not let this command in."""


@final
class Notes:
    """What running trials said last, kept where the command runs."""

    def __init__(self) -> None:
        self._last: dict[str, dict[str, Any]] = {}

    def tell(self, trial_id: str, message: dict[str, Any]) -> None:
        self._last[trial_id] = message

    def take(self) -> dict[str, dict[str, Any]]:
        """All that is new."""
        last, self._last = self._last, {}
        return last


@final
class Cluster:
    """A connection to Ray; runs trials like `run_here` does.

    Args:
        address: "local" starts a cluster on this machine for as long as the command runs; "auto" finds the one
            this machine belongs to; else "host:port", or "ray://host:port".
        num_workers: how many trials at a time; by default as many as the cluster has processors.
        num_gpus: of each trial.
    """

    def __init__(self, address: str, num_workers: int | None = None, num_gpus: float = 0.0) -> None:
        self._num_workers, self._num_gpus = num_workers, num_gpus
        options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": logging.ERROR}
        if address == "local":
            options |= {"num_cpus": num_workers, "include_dashboard": False}
        elif address != "auto":
            _require_answer(address)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # that trials without GPUs will see them one day
                ray.init(**options, runtime_env={"env_vars": _variables()})
        except (ConnectionError, RaySystemError, RuntimeError, ValueError) as error:
            raise NoClusterError(
                f"`--ray` must be the address of a Ray cluster, but {address!r} cannot be joined: {error}. Start one "
                "(ray start --head), or say --ray local. Where it has a token, this machine needs the same."
            ) from error

    def __call__(self, trials: Sequence[Trial], places: WorkPlaces) -> Generator[Event, None, None]:
        """What happens to trials, as it happens. A task whose worker or node is lost is tried again by Ray."""
        notes: Any = ray.remote(Notes).options(**_beside_this()).remote()
        task = ray.remote(run_there).options(num_cpus=1, num_gpus=self._num_gpus, max_retries=_RETRIES)
        waiting, started = deque(trials), set[str]()
        running: dict[Any, Trial] = {}
        try:
            while waiting or running:
                while waiting and len(running) < (self._num_workers or len(trials)):
                    trial = waiting.popleft()
                    running[task.remote(asdict(trial), notes)] = trial
                ready, _ = ray.wait(list(running), timeout=_PATIENCE)
                yield Quiet()
                yield from _heard(notes, running.values(), started)
                for one in ready:
                    yield _came(one, running.pop(one), places)
        finally:
            for one in running:
                with suppress(Exception):  # what is to be cancelled may be lost already
                    ray.cancel(one, force=True)
            ray.kill(notes)

    def close(self) -> None:
        """Leave the cluster; end it if it is this command's own."""
        ray.shutdown()


def run_there(trial: dict[str, Any], notes: Any) -> dict[str, Any]:
    """One trial in a folder of its own, wherever this is: what became of it, and its files as an archive."""
    with tempfile.TemporaryDirectory(prefix="ewok-") as folder:
        message = attempt(Trial(**trial), Path(folder), lambda said: notes.tell.remote(trial["id"], said))
        return {**message, "files": packed(Path(folder)) if "done" in message else b""}


def packed(folder: Path) -> bytes:
    """The files of a folder, as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, arcname=".")
    return buffer.getvalue()


def unpack(files: bytes, folder: Path) -> None:
    """Into a folder, and nowhere else."""
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        archive.extractall(folder, filter="data")


def _heard(notes: Any, running: Any, started: set[str]) -> Iterator[Event]:
    trials = {trial.id: trial for trial in running}
    try:
        said = ray.get(notes.take.remote(), timeout=_PATIENCE)
    except RayError:
        return  # only progress is lost, or late
    for name, message in said.items():
        if name not in trials:
            continue
        if name not in started:
            started.add(name)
            yield Started(trials[name])
        yield Progress(trials[name], message["stage"], message["steps"], message["return"])


def _came(reference: Any, trial: Trial, places: WorkPlaces) -> Event:
    try:
        message = ray.get(reference)
    except RayError as error:
        return Lost(trial, None, f"the cluster lost it: {type(error).__name__}: {str(error).strip()}")
    if "done" not in message:
        return Failure(trial, None, message["error"], message["traceback"], full=False)
    place = places(trial.id)
    unpack(message["files"], place)
    return Done(trial, place)


def _beside_this() -> dict[str, Any]:
    """Options of an actor that lives where the command does, so that no other node's death takes it along."""
    here = ray.get_runtime_context().get_node_id()
    return {"num_cpus": 0, "max_restarts": -1, "scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=True)}


def _variables() -> dict[str, str]:
    """As local workers have them. Paths of this machine's packages are none of another's."""
    ours = environment()
    names = [name for name in ours if name.endswith("_NUM_THREADS") or name in ("XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL")]
    paths = [os.getcwd(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    names += ["MUJOCO_GL"] if "MUJOCO_GL" in ours else []
    return {name: ours[name] for name in names} | {"PYTHONPATH": os.pathsep.join(paths)}


def _require_answer(address: str) -> None:
    """Soon: Ray itself would try for minutes, and what answers may be something else."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host or address, int(port) if host else _PORT), timeout=_ANSWER):
            pass
        if not address.startswith("ray://"):
            question = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
            subprocess.run(question, capture_output=True, timeout=_HEALTH, check=True)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        why = "it is no Ray" if isinstance(error, subprocess.SubprocessError) else str(error)
        raise NoClusterError(
            f"`--ray` must be the address of a Ray cluster, as host:port, but none answers at {address!r}: {why}. "
            "Start one there (ray start --head), or say --ray local. Where it has a token, this machine needs the same."
        ) from error
