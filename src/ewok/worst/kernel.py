"""The wrapper that lets an agent live in an estimate of the worst kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Literal, final

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from ewok.errors import NotResetError, WrapperError, require, require_whole
from ewok.nominal.batch import same, take
from ewok.nominal.generators import seeded
from ewok.nominal.kernel import Candidates
from ewok.nominal.layers import place_of, plain, wrappers_of
from ewok.nominal.seam import Seam
from ewok.value import ValueFunction
from ewok.worst.remote import RemoteCritic
from ewok.worst.score import Critic, Scale, Scoring, UnansweredError, number_of
from ewok.worst.tilt import kappa_of_radius, spread, tilt
from ewok.worst.view import View, views_of
from ewok.worst.watch import Watch

_UNBOUND = {
    "bound": False,
    "index": 0,
    "kl": 0.0,
    "kappa": float("inf"),
    "ess": 1.0,
    "spread": 0.0,
    "diverged": 0,
}


@final
class WorstKernel(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """At each step several next states are drawn, and a bad one is more likely to be kept.

    A candidate s' is kept with probability proportional to exp(-v(s') / kappa). Until a value
    function is bound, this is the environment it wraps.

    Args:
        env: any Gymnasium environment that can be drawn from; see `ewok.kernel_of`.
        num_samples: N, how many next states are drawn.
        kappa: the temperature, the same at every step, as in the paper.
        radius: the KL radius beta; kappa is then solved for at every step, as the theorem asks.
            Give exactly one of the two. Assigning to either later puts that one in force.
        discount: None scores a candidate by v(s'), as in the paper. A number scores it by
            r + discount * v(s'), which is exact where rewards depend on the next state; "agent"
            takes the agent's own discount when it is bound.
        terminal_value: v of a state that ends the episode; None asks the value function.
        value: a value function to start with; `ewok.bind` gives one later.

    Example:
        >>> import gymnasium as gym, ewok
        >>> env = ewok.WorstKernel(gym.make("ewok/NoisyCartPole-v1"), num_samples=15, kappa=0.2)
        >>> value = ewok.bind(lambda observations: -abs(observations[:, 0]), env)
        >>> observation, info = env.reset(seed=0)
        >>> env.step(env.action_space.sample())[-1]["ewok"]["spread"] > 0.0
        True
    """

    snapshot_names = ("generator", "_ready", "_ended")
    resamples = True

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        num_samples: int = 10,
        kappa: float | None = None,
        radius: float | None = None,
        discount: float | Literal["agent"] | None = None,
        terminal_value: float | None = 0.0,
        value: ValueFunction | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            num_samples=plain(num_samples),
            kappa=plain(kappa),
            radius=plain(radius),
            discount=plain(discount),
            terminal_value=plain(terminal_value),
        )
        super().__init__(env)
        self._refuse_another(env)
        if (kappa is None) == (radius is None):
            given = "neither" if kappa is None else f"kappa={kappa!r} and radius={radius!r}"
            require(False, "kappa` or `radius", "given, exactly one of the two", given, "Try kappa=0.2 or radius=0.3.")
        self._critic: Critic | RemoteCritic | None = None
        self._scoring = Scoring(discount, terminal_value)
        self.num_samples = num_samples
        self._kappa: float | None = None
        self._radius: float | None = None
        if kappa is not None:
            self.kappa = kappa
        else:
            self.radius = radius
        self.generator = np.random.default_rng()
        self._seam = Seam(env, type(self).__name__)
        self._check: Callable[[Any], None] | None = None
        self._ready = self._ended = False
        self._report: dict[str, Any] = {}
        self._answer: NDArray[np.float64] | None = None
        self._watch = Watch()
        if value is not None:
            self.attach(self.critic_of(value))

    @property
    def num_samples(self) -> int:
        """N, how many next states are drawn."""
        return self._num_samples

    @num_samples.setter
    def num_samples(self, num_samples: int) -> None:
        self._num_samples = require_whole(num_samples, "num_samples", "The paper uses 10 and 15.")

    @property
    def discount(self) -> float | Literal["agent"] | None:
        """None: candidates are scored by v(s'); else by r + discount * v(s')."""
        return self._scoring.discount

    @discount.setter
    def discount(self, discount: float | Literal["agent"] | None) -> None:
        self._rescore(replace(self._scoring, discount=discount))

    @property
    def terminal_value(self) -> float | None:
        """v of a state that ends the episode; None asks the value function."""
        return self._scoring.terminal_value

    @terminal_value.setter
    def terminal_value(self, terminal_value: float | None) -> None:
        self._rescore(replace(self._scoring, terminal_value=terminal_value))

    def _rescore(self, scoring: Scoring) -> None:
        self._critic = None if self._critic is None else self._critic.rescored(scoring)
        self._scoring = scoring

    @property
    def kappa(self) -> float | None:
        """The temperature; None while a radius is in force."""
        return self._kappa

    @kappa.setter
    def kappa(self, kappa: float | None) -> None:
        number = number_of(kappa)
        valid = 0.0 < number < np.inf
        require(valid, "kappa", "a finite number greater than 0", kappa, "The smaller, the more robust: try 0.2.")
        self._kappa, self._radius = number, None

    @property
    def radius(self) -> float | None:
        """The KL radius; None while a kappa is in force."""
        return self._radius

    @radius.setter
    def radius(self, radius: float | None) -> None:
        number = number_of(radius)
        valid = 0.0 <= number < np.inf
        require(valid, "radius", "a finite number, at least 0", radius, "The larger, the more robust: try 0.3.")
        self._radius, self._kappa = number, None

    @property
    def waiting(self) -> bool:
        """Whether a `reset` has to come before the next step."""
        return self._ended or not self._ready

    @property
    def critic(self) -> Critic | RemoteCritic | None:
        """What tells which next states are bad; None until a value function is bound."""
        return self._critic

    @property
    def bound(self) -> bool:
        """Whether a value function tells which next states are bad."""
        return self._critic is not None

    def critic_of(
        self, value: ValueFunction, above: Sequence[View] = (), scale: Scale | None = None, owner: Any = None
    ) -> Critic:
        """`value` as it would look at candidates, through the wrappers below and those `above`."""
        return Critic(value, views_of(self._seam.layers.wrappers), above, scale, self._scoring, owner)

    def attach(self, critic: Critic | RemoteCritic) -> None:
        """Score candidates by this critic from now on. `ewok.bind` calls it."""
        self._critic = critic
        needed = bool(self._seam.layers.watched) or critic.looks_through_foreign
        self._check = self._look_again if needed else None

    def listen(self, connection: Connection) -> None:
        """Take scores from the other end, for an environment that lives in another process than its agent."""
        self.attach(RemoteCritic(connection, views_of(self._seam.layers.wrappers), self._scoring))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._require_ready()
        if self._critic is None:
            transition = self.env.step(action)
            report = dict(_UNBOUND)
            self._watch.unbound_step()
        else:
            if self._answer is not None and self._seam.drop_another(action):
                self._answer = None  # values of candidates that are none now
            try:
                transition = self._seam.step(action, self._num_samples, self._choose, self._check)
            except UnansweredError:
                return take(self._critic.seen_below, 0), 0.0, False, False, {"ewok": dict(_UNBOUND)}
            except BaseException:
                self._ready = not self._seam.moved  # what came after the commit cannot be taken back
                raise
            finally:
                self._answer = None
            report = self._report
        observation, reward, terminated, truncated, info = transition
        self._ended = bool(terminated or truncated)
        return observation, reward, terminated, truncated, {**info, "ewok": report}

    def ask(self, action: Any) -> Any:
        """Draw for a step with this action, and return what its candidates look like to the agent.

        Their values, given to `answer`, are what that step then chooses by: so one call of the value
        function can serve many environments. Nothing has moved until then.
        """
        self._require_ready()
        assert self._critic is not None, "there is no one to ask for: bind first"
        return self._critic.look(self._seam.draw(action, self._num_samples))

    def answer(self, values: NDArray[np.float64] | None) -> None:
        """The values of the candidates of the latest `ask`; None takes the draw back."""
        self._answer = values
        if values is None:
            self._seam.drop()

    def _require_ready(self) -> None:
        if self.waiting:
            when = "after an episode ended" if self._ended else "before `reset()`"
            raise NotResetError(f"`step` was called {when}. Call `reset()` first.")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.answer(None)
        if seed is not None:
            self.generator = seeded(seed, place_of(self.env))
        if self._critic is None:
            self._watch.unbound_reset(self)
        result = super().reset(seed=seed, options=options)
        self._ready, self._ended = True, False
        return result

    def _choose(self, candidates: Candidates) -> int:
        """Step 4 of the paper's algorithm, on candidates drawn in step 3."""
        assert self._critic is not None
        scores = self._critic.scores(candidates, self._answer)
        kappa = kappa_of_radius(scores, self._radius) if self._radius is not None else self._kappa
        assert kappa is not None
        tilted = tilt(scores, kappa)
        self._watch.drawn(candidates, self._scoring, self._critic.owner)
        index = tilted.draw(self.generator.random())
        self._report = {
            "bound": True,
            "index": index,
            "kl": tilted.kl,
            "kappa": kappa,
            "ess": tilted.ess,
            "spread": spread(scores),
            "diverged": candidates.num_diverged,
        }
        return index

    def _look_again(self, transition: Any) -> None:
        """What came out of wrappers from elsewhere must be what the value saw of the chosen candidate."""
        assert self._critic is not None
        index, watched = self._report["index"], self._seam.layers.watched
        expected = take(self._critic.seen_below, index)
        if watched and not same(expected, transition[0]):
            names = " or ".join(type(wrapper).__name__ for wrapper in watched)
            raise WrapperError(
                f"a wrapper under `WorstKernel` changed the observation from {expected} to {transition[0]}: it is "
                f"{names}. Candidates are seen before one of them is the truth, so what an agent observes must "
                "follow from the simulator's observation alone: use a gymnasium.ObservationWrapper that looks at "
                "its argument only, or compute it in the simulator's own step."
            )
        self._critic.look_again(index)

    def _refuse_another(self, env: gym.Env[Any, Any]) -> None:
        if any(isinstance(layer, WorstKernel) for layer in wrappers_of(env)):
            raise WrapperError(
                "`env` already has a `WorstKernel` beneath, and the worst of the worst is no kernel of "
                "the paper's. Change that one's `kappa`, `radius` or `num_samples` instead."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Without the value function: a copy of it would go stale. Bind again after unpickling or copying."""
        return {**vars(self), "_critic": None, "_check": None, "_answer": None}
