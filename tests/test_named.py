"""What "module:object" names, or one error that says why not, whatever the module raises."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ewok.errors import ArgumentError, MissingExtraError
from ewok.named import named


def test_it_is_the_object() -> None:
    assert named("pathlib:Path", "kind") is Path


@pytest.mark.parametrize("path", ["pathlib", "pathlib:", ":Path", ""])
def test_half_a_name_is_refused(path: str) -> None:
    with pytest.raises(ArgumentError, match='`kind` must be "module:object", but it is'):
        named(path, "kind")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def broken(:\n", r"SyntaxError.*mine_\d\.py, line 1"),
        ("x = 1\ny = undefined\n", r"NameError.*undefined.*mine_\d\.py, line 2"),
        ("def f():\n    raise RuntimeError('two\\nlines')\n\nf()\n", r"RuntimeError: two lines.*mine_\d\.py, line 2"),
        ("1 / 0", r"ZeroDivisionError.*line 1"),
        ("import nowhere_at_all", r"ModuleNotFoundError: No module named 'nowhere_at_all'.*mine_\d\.py, line 1"),
        ("", r"AttributeError: .* has no attribute 'thing'"),
    ],
)
def test_whatever_a_module_raises_is_a_mistake_with_its_line(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "mine_0"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(
        ArgumentError, match=f"`kind` must be .*, but {name}:thing cannot be imported: {told}"
    ) as raised:
        named(f"{name}:thing", "kind")
    assert "\n" not in str(raised.value)


def test_a_module_that_is_not_there_is_told_where_it_was_looked_for() -> None:
    with pytest.raises(ArgumentError, match=r"No module named 'nowhere'\. Modules of yours are looked for"):
        named("nowhere:thing", "kind")


def test_what_a_part_of_ours_says_is_missing_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_wants.py").write_text("from ewok.errors import require_package\nrequire_package('nope', 'lab')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match="pip install"):
        named("mine_wants:thing", "kind")
