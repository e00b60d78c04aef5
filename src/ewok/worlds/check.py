"""Whether a world's parameters really move it, consistently, and nothing else."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ewok.errors import CheckError
from ewok.nominal.batch import copied, same, take
from ewok.worlds.derived import first_stale
from ewok.worlds.perturbation import Perturbation
from ewok.worlds.vector import LoopBatch, WorldVector, is_divergence
from ewok.worlds.world import Environment, World, get

Trajectory = list[Any]
_NOT_THERE = 3  # exit status of a process that cannot import the world


def check_perturbation(world: World | str, *, num_steps: int = 100, seed: int = 0) -> None:
    """Check that each parameter of a world moves it, and that nothing moves it besides.

    Fails, and says how, where a parameter has no effect on trajectories at an end of its tested range, ends
    the episode there with its first step, or tears the physics apart; where a number that the simulator works out
    of a parameter is stale; where nominal values do not give exactly the nominal environment; where the same seed
    gives different trajectories, here or in another process; where making or moving one environment changes
    another; where an environment that was moved and moved back is not what it was; and where many episodes stepped
    together differ from single ones.

    Other processes are asked only for worlds that can be imported there: registered by ewok itself, or made of
    functions with names in a module.

    Args:
        world: the world, or its name.
        num_steps: how many steps, with random actions, to compare.
        seed: of the resets and the actions.
    """
    world = get(world)
    nominal = _walk_at({}, world.build(), num_steps, seed)
    _check_nominal(world, nominal, num_steps, seed)
    ends: list[tuple[dict[str, float], Trajectory]] = []
    for parameter in world.perturbations.values():
        for value in dict.fromkeys((parameter.low, parameter.high)):
            if value != parameter.nominal:
                point = {parameter.name: value}
                ends.append((point, _walk_at(point, world.make(**point), num_steps, seed)))
                _check_effect(parameter, value, ends[-1][1], nominal, num_steps)
                _check_start(parameter, value, ends[-1][1], nominal)
                _check_derived(world, parameter, value)
    _check_apart(world, nominal, ends, num_steps, seed)
    for point, _ in ends:
        _check_there_and_back(world, point, nominal, num_steps, seed)
    _check_elsewhere(world, [({}, nominal), *ends], num_steps, seed)
    _check_vector(world, [{}, *(point for point, _ in ends)], num_steps, seed)


def _walk_at(point: Mapping[str, float], env: Environment, num_steps: int, seed: int) -> Trajectory:
    try:
        return walk(env, num_steps, seed)
    except Exception as error:
        if not is_divergence(error):
            raise
        _fail(
            f"physics comes apart at {_text(point)}, within {num_steps} random steps from seed {seed} ({error}): test "
            "over a narrower range, or for fewer steps"
        )


def walk(env: Environment, num_steps: int, seed: int) -> Trajectory:
    return [part for parts in _steps(env, num_steps, seed) for part in parts]


def _check_nominal(world: World, nominal: Trajectory, num_steps: int, seed: int) -> None:
    if not same(walk(world.build(), num_steps, seed), nominal):
        _fail(
            f"two nominal environments with the same seed, {seed}, go different ways: draw from `self.np_random`, "
            "which `reset(seed=...)` seeds"
        )
    for how, env in (("make()", world.make()), ("make(**nominal)", world.make(**world.nominal))):
        step = _first_difference(walk(env, num_steps, seed), nominal)
        if step is not None:
            _fail(f"`{how}` does not give exactly the nominal environment: they part {step}")


def _check_effect(
    parameter: Perturbation, value: float, moved: Trajectory, nominal: Trajectory, num_steps: int
) -> None:
    if same(moved, nominal):
        _fail(
            f"`{parameter.name}` has no effect: at {value:g} the world goes exactly as at the nominal "
            f"{parameter.nominal:g}, for {num_steps} random steps. Move all that the simulator reads (of two that "
            "touch, both), or test it where it matters"
        )


def _check_start(parameter: Perturbation, value: float, moved: Trajectory, nominal: Trajectory) -> None:
    (_, _, ended, _), (_, _, ends, _) = moved[1], nominal[1]
    if ended and not ends:
        _fail(
            f"`{parameter.name}` at {value:g} ends the episode with its first step, which says nothing about a policy: "
            "test it over a narrower range, or let starts follow it in `settle`"
        )


def _check_derived(world: World, parameter: Perturbation, value: float) -> None:
    stale = first_stale(world.build(), world.make(**{parameter.name: value}))
    if stale is not None:
        _fail(
            f"`{stale}` is stale when `{parameter.name}` is {value:g}: the simulator works it out of what was moved, "
            "once. Work it out again in `settle`"
        )


def _check_apart(
    world: World, nominal: Trajectory, ends: list[tuple[dict[str, float], Trajectory]], num_steps: int, seed: int
) -> None:
    """All at once, step by step in turn, each must go as it went alone."""
    points = [({}, nominal), *ends]
    envs = [world.make(**point) for point, _ in points]
    together = list(zip(*(_steps(env, num_steps, seed) for env in envs), strict=True))
    for index, (point, alone) in enumerate(points):
        step = _first_difference([part for turn in together for part in turn[index]], alone)
        if step is not None:
            _fail(f"making or stepping other environments changed the one at {_text(point)}: it parts {step}")


def _check_there_and_back(
    world: World, point: dict[str, float], nominal: Trajectory, num_steps: int, seed: int
) -> None:
    env = world.prepared(world.build(), point)
    env.reset(seed=seed + 1)
    world.move(env, **point)
    there = _first_difference(walk(env, num_steps, seed), walk(world.make(**point), num_steps, seed))
    if there is not None:
        _fail(f"an environment moved to {_text(point)} is not what `make` gives there: they part {there}")
    world.move(env)
    back = _first_difference(walk(env, num_steps, seed), nominal)
    if back is not None:
        _fail(f"moved to {_text(point)} and back, an environment is not nominal again: they part {back}")
    if all(world.perturbation(name).live for name in point):
        steps: Trajectory = []
        for number, parts in enumerate(_steps(env, num_steps, seed)):
            steps += parts
            if number == num_steps // 2:
                world.move(env, **point)
                world.move(env)
        back = _first_difference(steps, nominal)
        if back is not None:
            _fail(
                f"moved to {_text(point)} and back in mid-episode, an environment does not go on as it did: it parts "
                f"{back}. Leave the state alone in `settle`, or say `live=False`"
            )


def _check_elsewhere(
    world: World, points: list[tuple[dict[str, float], Trajectory]], num_steps: int, seed: int
) -> None:
    """In a process of its own, where nothing is left over from here."""
    try:
        question = pickle.dumps((world, [point for point, _ in points], num_steps, seed))
    except Exception:  # functions without a name cannot be asked for elsewhere
        return
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "asked", Path(folder) / "answered"
        asked.write_bytes(question)
        command = [sys.executable, "-c", f"from ewok.worlds.check import answer; answer({folder!r})"]
        paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        done = subprocess.run(command, env={**os.environ, **paths}, capture_output=True, text=True, check=False)
        if done.returncode == _NOT_THERE:
            return
        if done.returncode:
            _fail(f"another process could not walk through the world: {done.stderr.strip().splitlines()[-1]}")
        found = pickle.loads(answered.read_bytes())
    for (point, here), there in zip(points, found, strict=True):
        step = _first_difference(there, here)
        if step is not None:
            _fail(f"another process with the same seed, {seed}, goes another way at {_text(point)}: they part {step}")


def answer(folder: str) -> None:
    """The other process's part of the check."""
    try:
        world, points, num_steps, seed = pickle.loads((Path(folder) / "asked").read_bytes())
    except Exception:
        raise SystemExit(_NOT_THERE) from None
    found = [walk(world.make(**point), num_steps, seed) for point in points]
    (Path(folder) / "answered").write_bytes(pickle.dumps(found))


def _check_vector(world: World, points: list[dict[str, float]], num_steps: int, seed: int) -> None:
    if world.batch is None:
        return  # single environments, one after another, are what it would be compared with
    num_episodes = 2
    vector = world.make_vector(points, num_episodes)
    singles = [world.make(**point) for point in points for _ in range(num_episodes)]
    loop = WorldVector(LoopBatch(singles), num_episodes)
    actions = _actions(vector, seed)
    one: Any = vector.reset(seed=seed)
    other: Any = loop.reset(seed=seed)
    for step in range(num_steps + 1):
        if not same(one, other):
            differ = [index for index in range(vector.num_envs) if not same(_row(one, index), _row(other, index))]
            point = points[differ[0] // num_episodes]
            _fail(f"episodes stepped together differ from single ones at {_text(point)}: they part at step {step}")
        action = actions.sample()
        one, other = vector.step(action), loop.step(action)


def _row(outcome: Any, index: int) -> Any:
    return [take(part, index) for part in outcome if not isinstance(part, dict) or part]


def _steps(env: Environment, num_steps: int, seed: int) -> Iterator[Trajectory]:
    """What random actions lead to, a step at a time, from a reset with this seed on, episode after episode."""
    actions = _actions(env, seed)
    yield [copied(env.reset(seed=seed)[0])]
    for _ in range(num_steps):
        observation, reward, terminated, truncated, _ = env.step(actions.sample())
        step = [(copied(observation), float(reward), bool(terminated), bool(truncated))]
        yield [*step, copied(env.reset()[0])] if terminated or truncated else step


def _actions(env: Any, seed: int) -> Any:
    space = copy.deepcopy(env.action_space)
    space.seed(seed)
    return space


def _first_difference(one: Trajectory, other: Trajectory) -> str | None:
    for step, (a, b) in enumerate(zip(one, other, strict=False)):
        if not same(a, b):
            return f"at step {step}" if step else "at the reset"
    return None if len(one) == len(other) else "in how long episodes are"


def _text(point: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in point.items()) or "the nominal values"


def _fail(what: str) -> NoReturn:
    raise CheckError(f"{what}.")
