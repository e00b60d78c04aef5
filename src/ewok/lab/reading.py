"""From a file to a study: every mistake in it at once, each with its place and the nearest name that is known."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

from pydantic import BaseModel, ValidationError

from ewok.errors import ArgumentError, EwokError
from ewok.lab.kinds import kind_of, planner
from ewok.lab.meaning import misnamed
from ewok.lab.study import Study

Tables = Mapping[tuple[str, ...], type[BaseModel]]

_WORDS = {"missing": "is missing", "extra_forbidden": "is not known here"}


@final
class StudyError(EwokError, ValueError):
    """A study's file has mistakes.

    Attributes:
        mistakes: where in the file, and what is wrong.
    """

    def __init__(self, source: str, mistakes: Mapping[str, str]) -> None:
        self.mistakes = dict(mistakes)
        number = "a mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = [f"  {place}: {told}" if place else f"  {told}" for place, told in mistakes.items()]
        super().__init__("\n".join([f"{source} has {number}:", *lines]))


def read_file(path: Path | str, changes: Sequence[str] = (), num_seeds: int | None = None) -> tuple[Any, str]:
    """The study of a file, and the file's text.

    Args:
        path: of a TOML file.
        changes: "path=value" each, the value as TOML has it, or plain text.
        num_seeds: only the first so many of the seeds.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise StudyError(str(path), {"": f"it must be a TOML file, but it is no text: {error.reason}"}) from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError(str(path), {"": f"it must be a TOML file: {error}"}) from error
    for change in changes:
        _apply(raw, change)
    study = read_plain(raw, str(path))
    return study if num_seeds is None else study.with_seeds(num_seeds), text


def read_plain(raw: Mapping[str, Any], source: str = "the study") -> Any:
    """The study that plain data says."""
    module = planner(kind_of(raw))
    tables: Tables = module.TABLES
    try:
        study, mistakes = tables[()].model_validate(raw), {}
    except ValidationError as error:
        study, mistakes = None, _told(error, tables)
    for place, told in module.mistakes_of(raw).items():
        if not any(known == place or known.startswith(f"{place}.") for known in mistakes):
            mistakes[place] = told
    if isinstance(study, Study) and not mistakes:
        mistakes = misnamed(study)
    if study is None or mistakes:
        raise StudyError(source, mistakes)
    return study


def _apply(raw: dict[str, Any], change: str) -> None:
    """Set one value, as `--set path=value` says."""
    place, equals, value = change.partition("=")
    keys = place.strip().split(".")
    if not equals or not all(keys):
        raise ArgumentError(
            f"`--set` must be path=value, but it is {change!r}. Try --set agent.num_steps=1000, or --set episodes=10."
        )
    table: Any = raw
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise ArgumentError(f"`--set` must lead to a value, but in {change!r} {key!r} is one already: {table!r}.")
    table[keys[-1]] = _value(value.strip())


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _told(error: ValidationError, tables: Tables) -> dict[str, str]:
    """Place and mistake. Of a value that could be of several kinds, what each of them misses is one mistake."""
    told: dict[str, str] = {}
    for one in error.errors():
        place = [str(part) for part in one["loc"] if _is_place(part)]
        name = ".".join(place)
        words = _WORDS.get(one["type"], one["msg"].removeprefix("Value error, "))
        if one["type"] == "extra_forbidden":
            words += _nearest(place, tables)
        elif one["type"] not in ("missing", "value_error"):
            words = f"{words[:1].lower()}{words[1:]}, but it is {one['input']!r}"
        told[name] = f"{told[name]}; or {words}" if name in told and words not in told[name] else words
    return told


def _is_place(part: int | str) -> bool:
    """Whether it is a key of the file, and not pydantic's name for one of the kinds that a value could be of."""
    if isinstance(part, int):
        return True
    return part not in ("int", "float", "str") and not any(sign in part for sign in "[(")


def _nearest(place: Sequence[str], tables: Tables) -> str:
    table = next((t for pattern, t in tables.items() if _fits(place[:-1], pattern)), None)
    if table is None:
        return ""
    names: Iterable[str] = table.model_fields
    near = difflib.get_close_matches(place[-1], names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(names)}"


def _fits(place: Sequence[str], pattern: tuple[str, ...]) -> bool:
    return len(place) == len(pattern) and all(want in ("*", has) for has, want in zip(place, pattern, strict=True))
