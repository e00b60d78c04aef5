"""Worst kernels in other processes, as the process that learns sees them: questions come in, scores go out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, final

from ewok.errors import WrapperError, require
from ewok.nominal.kernel import Candidates
from ewok.value import ValueFunction
from ewok.vector.batched import values_of_all
from ewok.worst.kernel import WorstKernel
from ewok.worst.remote import Question
from ewok.worst.score import Critic, Scale, Scoring
from ewok.worst.view import View

Transition = TypeVar("Transition")


@final
class RemoteKernel:
    """Stands for one `WorstKernel` that lives in a worker. `ewok.bind` gives it the critic.

    Args:
        scoring: how it scores candidates.
        listen: hands its end of a new connection to the worst kernel in the worker.
    """

    def __init__(self, scoring: Scoring, listen: Callable[[Connection], None]) -> None:
        self._scoring, self._listen = scoring, listen
        self._critic: Critic | None = None
        self.connection: Connection | None = None

    @property
    def discount(self) -> Any:
        return self._scoring.discount

    @property
    def critic(self) -> Critic | None:
        return self._critic

    def critic_of(
        self, value: ValueFunction, above: Sequence[View] = (), scale: Scale | None = None, owner: Any = None
    ) -> Critic:
        """`value` as it would look at what comes from the worker; wrappers there were looked through already."""
        return Critic(value, (), above, scale, self._scoring, owner)

    def attach(self, critic: Critic) -> None:
        self._critic = critic
        if self.connection is None:
            self.connection, theirs = Pipe()
            self._listen(theirs)

    def asked(self, scoring: Scoring) -> Critic:
        """The critic, scoring as the worst kernel does by now."""
        assert self._critic is not None
        if scoring != self._scoring:
            self._scoring, self._critic = scoring, self._critic.rescored(scoring)
        return self._critic


def linked(
    workers: Any, argument: str, outermost: Sequence[str], remedy: str, send: Callable[[int, Connection], None]
) -> list[RemoteKernel]:
    """What stands for the worst kernel of every worker.

    Args:
        workers: a vector of environments in other processes.
        argument: what it was given as.
        outermost: the class of the outermost wrapper of each.
        remedy: for one that is no worst kernel.
        send: hands a connection to the worst kernel of one worker.
    """
    for name in outermost:
        if name != WorstKernel.__name__:
            raise WrapperError(
                f"`{argument}` must have an ewok.WorstKernel outermost in every process, but there it is {name}. "
                f"{remedy}"
            )

    def listener(place: int) -> Callable[[Connection], None]:
        def listen(connection: Connection) -> None:
            require_open(workers, argument)
            send(place, connection)

        return listen

    scorings = zip(workers.get_attr("discount"), workers.get_attr("terminal_value"), strict=True)
    return [RemoteKernel(Scoring(*scoring), listener(place)) for place, scoring in enumerate(scorings)]


def require_open(workers: Any, argument: str) -> None:
    require(not workers.closed, argument, "open", "closed", "Its processes are gone: make the vector anew.")


def stepped(
    kernels: Sequence[RemoteKernel], results: Sequence[Connection], take: Callable[[], Transition]
) -> Transition:
    """One step of all workers, begun already: their questions are answered, and `take` takes in what came of it."""
    error = _answer_all(kernels, results)
    transition = take()
    if error is not None:
        raise error
    return transition


def _answer_all(kernels: Sequence[RemoteKernel], results: Sequence[Connection]) -> Exception | None:
    """Wait until each worker has asked, or has its result, and answer all at once.

    Returns rather than raises what went wrong; the workers then have not moved, and their results,
    which still have to be taken in, mean nothing.
    """
    questions: dict[int, Question] = {}
    left = {i for i, kernel in enumerate(kernels) if kernel.connection is not None}
    while left:
        ends: dict[Any, int] = {kernels[i].connection: i for i in left} | {results[i]: i for i in left}
        for ready in wait(list(ends)):
            place = ends[ready]
            if ready is kernels[place].connection:
                questions[place] = kernels[place].connection.recv()  # type: ignore[union-attr]
            left.discard(place)
    scores, error = _scores_of({i: questions[i] for i in sorted(questions)}, kernels)
    for place in questions:
        kernels[place].connection.send(None if scores is None else scores[place])  # type: ignore[union-attr]
    return error


def _scores_of(
    questions: dict[int, Question], kernels: Sequence[RemoteKernel]
) -> tuple[dict[int, Any] | None, Exception | None]:
    try:
        critics = [kernels[i].asked(question.scoring) for i, question in questions.items()]
        candidates = [_candidates(question) for question in questions.values()]
        seen = [critic.look(drawn) for critic, drawn in zip(critics, candidates, strict=True)]
        values = values_of_all(critics, seen)
        scores = [critic.scores(drawn, known) for critic, drawn, known in zip(critics, candidates, values, strict=True)]
    except Exception as error:
        return None, error
    return dict(zip(questions, scores, strict=True)), None


def _candidates(question: Question) -> Candidates:
    none = question.terminated & False
    return Candidates(question.observations, question.rewards, question.terminated, none, [{}] * len(none))
