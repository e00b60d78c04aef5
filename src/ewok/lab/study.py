"""A study as its file says it: world, agent, methods, seeds, and what is moved."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol, TypeVar, final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

KINDS = ("baseline", "ewok", "randomized")
SWEPT = ("kappa", "radius", "num_samples", "discount", "terminal_value")
LARGEST_SEED = 999_999  # evaluation's seeds lie above
NAME = r"^[A-Za-z0-9][\w.-]*$"

Name = Annotated[str, Field(pattern=NAME, max_length=60)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Seeds = Annotated[int, Field(ge=1, le=LARGEST_SEED)] | Annotated[list[Seed], Field(min_length=1)]
Kappa = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Radius = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
NumSamples = Annotated[int, Field(ge=1)]
Discount = Annotated[float, Field(ge=0.0, le=1.0)] | Literal["agent"]
Seeded = TypeVar("Seeded", bound=Any)
TerminalValue = Annotated[float, Field(allow_inf_nan=False)] | Literal["critic"]


class AnyStudy(Protocol):
    """What all kinds of study have."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...


class Table(BaseModel):
    """A table of the file: what it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@final
class Agent(Table):
    """Who learns.

    Attributes:
        recipe: the name of one of the paper's agents, or
        agent: "module:object": a class as Stable-Baselines3's are, or a function (env, seed) -> agent. With a
            recipe, a class that takes the recipe's numbers.
        policy: which of the class's policies.
        num_steps: for how long; a recipe has its own.
        settings: keyword arguments of the class, in place of the recipe's.
        networks: entries of its `policy_kwargs`, likewise.
    """

    recipe: str | None = None
    agent: str | None = None
    policy: str = "MlpPolicy"
    num_steps: Annotated[int, Field(ge=1)] | None = None
    settings: dict[str, JsonValue] = {}
    networks: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _is_someone(self) -> Agent:
        if self.recipe is None and self.agent is None:
            raise ValueError('names no one: give recipe = "ddqn", or agent = "module:class"')
        if self.recipe is None and self.num_steps is None:
            raise ValueError("num_steps is missing, and there is no recipe to take it from")
        return self


@final
class Method(Table):
    """How the agent's training world is made of the nominal one.

    Attributes:
        kind: "baseline", the nominal world; "ewok", its worst kernel; "randomized", another world in every
            episode; or "module:object", a function (env, world, generator, **options) -> env. The table's own
            name by default.
        seeds: the study's by default.
        num_samples: N, of the worst kernel,
        kappa: its temperature, or
        radius: its KL radius,
        discount: what it scores by, as `WorstKernel` has it,
        terminal_value: of a state that ends the episode; "critic" asks the agent,
        soft: v is the entropy-regularised value, for agents that have one,
        target: v is the target network's, for agents that have one.
        parameters: what is randomized: names, all of them together by default; "each" makes a method, and so
            an agent, for every one.
        distribution: of their values.
        options: for a function of one's own.
    """

    kind: str | None = None
    seeds: Seeds | None = None
    num_samples: NumSamples = 10
    kappa: Kappa | None = None
    radius: Radius | None = None
    discount: Discount | None = None
    terminal_value: TerminalValue = 0.0
    soft: bool = False
    target: bool = False
    parameters: Annotated[list[str], Field(min_length=1)] | Literal["each"] | None = None
    distribution: Literal["uniform", "log-uniform", "grid"] = "uniform"
    options: dict[str, JsonValue] = {}


@final
class Sweep(Table):
    """One setting of a method, moved: makes a method of every value that is not the base's own.

    Attributes:
        base: the method.
        seeds: the base's by default.
    """

    base: str
    seeds: Seeds | None = None
    kappa: Annotated[list[Kappa], Field(min_length=1)] | None = None
    radius: Annotated[list[Radius], Field(min_length=1)] | None = None
    num_samples: Annotated[list[NumSamples], Field(min_length=1)] | None = None
    discount: Annotated[list[Discount], Field(min_length=1)] | None = None
    terminal_value: Annotated[list[TerminalValue], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _moves_one(self) -> Sweep:
        if len(self.moved) != 1:
            raise ValueError(
                f"must move exactly one of {', '.join(SWEPT)}, but moves {', '.join(self.moved) or 'none'}"
            )
        return self

    @property
    def moved(self) -> dict[str, list[Any]]:
        """The settings that are moved, with their values."""
        return {name: values for name in SWEPT if (values := getattr(self, name)) is not None}


@final
class Study(Table):
    """All of a study.

    Attributes:
        name: of the study, and of its folder by default.
        title: for the report.
        kind: "agents"; "tabular" is the cliff's, see `ewok.lab.cliff`, and "estimate" that of `ewok.lab.distance`.
        world: its name, or "module:object".
        seeds: how many (0, 1, ...), or which.
        episodes: of evaluation, at every value of every parameter.
        evaluation_seed: where the seeds of evaluation begin; those of one training's seed are the same for all methods.
        agent: who learns.
        methods: in what.
        sweeps: makes more methods.
        perturbations: the values each parameter is tested at, beside the nominal one; "grid" is the world's own.
            All the world's own parameters at their grids by default.
    """

    name: Name
    title: str = ""
    kind: Literal["agents", "tabular", "estimate"] = "agents"
    world: str
    seeds: Seeds
    episodes: Annotated[int, Field(ge=1, le=1000)] = 30
    evaluation_seed: Annotated[int, Field(gt=LARGEST_SEED, le=3_000_000_000)] = 1_000_000
    agent: Agent
    methods: Annotated[dict[Name, Method], Field(min_length=1)]
    sweeps: dict[Name, Sweep] = {}
    perturbations: dict[str, Annotated[list[float], Field(min_length=1)] | Literal["grid"]] = {}

    def with_seeds(self, num: int) -> Study:
        """The same study with the first `num` of its seeds, and of those that methods and sweeps have."""
        methods = {name: fewer(method, num) for name, method in self.methods.items()}
        sweeps = {name: fewer(sweep, num) for name, sweep in self.sweeps.items()}
        return self.model_copy(update={"seeds": first(self.seeds, num), "methods": methods, "sweeps": sweeps})


def seeds_of(seeds: Seeds) -> list[int]:
    """The seeds themselves."""
    return list(range(seeds)) if isinstance(seeds, int) else list(seeds)


def first(seeds: Seeds, num: int) -> Seeds:
    """The first `num` of them: all, if there are no more."""
    return min(seeds, num) if isinstance(seeds, int) else seeds[:num]


def fewer(table: Seeded, num: int) -> Seeded:
    """A method or the like with the first `num` of its own seeds, if it has any."""
    if table.seeds is None:
        return table
    same: Seeded = table.model_copy(update={"seeds": first(table.seeds, num)})
    return same
