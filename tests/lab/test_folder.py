"""Writing a study's folder: whole or not at all, by one command at a time, whatever is killed and whatever is full."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ewok.lab.columns import StoreError
from ewok.lab.folder import LockedError, held, is_disk_full, locked
from ewok.lab.store import Failed, read
from tests.lab.made import made_study, study_json, trial_id, write_trial

HOLD = """
    import sys, time
    from ewok.lab.folder import held
    with held(sys.argv[1]) as folder:
        place = folder.workplace("ewok-s000-00000000")
        (place / "returns.csv.gz").write_bytes(b"half")
        print("held", flush=True)
        time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process, in the middle of writing a trial."""
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_two_commands_do_not_meet(tmp_path: Path, holder: subprocess.Popen) -> None:
    with pytest.raises(LockedError, match=f"process {holder.pid} on .* --out"), held(tmp_path):
        pass
    assert list((tmp_path / "partial").iterdir()), "what the other one is writing stays"


def test_a_killed_command_leaves_no_lock_and_its_half_a_trial_goes(tmp_path: Path, holder: subprocess.Popen) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    (tmp_path / "study.json").write_text(study_json(("ewok",), 1))
    assert read(tmp_path).missing == (trial_id("ewok", 0),)
    with held(tmp_path) as folder:
        assert folder.leftovers == (f"ewok-s000-00000000.{holder.pid}",)
        assert list((tmp_path / "partial").iterdir()) == []
    with held(tmp_path) as folder:
        assert folder.leftovers == ()


def test_the_lock_can_be_taken_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), held(tmp_path):
        raise ZeroDivisionError
    with held(tmp_path), pytest.raises(LockedError), held(tmp_path):
        pass


def test_an_orderly_end_leaves_nothing_half_written(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), held(tmp_path) as folder:
        (folder.workplace(trial_id("ewok", 0)) / "returns.csv.gz").touch()
        raise KeyboardInterrupt
    assert list((tmp_path / "partial").iterdir()) == []


def test_an_unfinished_trial_is_not_kept(tmp_path: Path) -> None:
    with held(tmp_path) as folder:
        place = folder.workplace("a")
        (place / "trial.json").touch()
        with pytest.raises(StoreError, match=r"returns.csv.gz, training.csv.gz is missing"):
            folder.keep("a", place)
        assert not folder.has("a")


def test_all_of_a_trial_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, Path.rename
    monkeypatch.setattr(os, "fsync", lambda d: (done.append(Path(os.readlink(f"/proc/self/fd/{d}")).name), fsync(d)))
    monkeypatch.setattr(Path, "rename", lambda s, t: (done.append("rename"), rename(s, t)))
    with held(tmp_path) as folder:
        name = trial_id("baseline", 0)
        place = folder.workplace(name)
        write_trial(place, "baseline", 0, 1.0)
        (place / "tensorboard").mkdir()
        (place / "tensorboard" / "events").write_text("e")
        folder.keep(name, place)
        assert folder.has(name)
    before = done[: done.index("rename")]
    assert set(before) == {"trial.json", "returns.csv.gz", "training.csv.gz", "tensorboard", "events", place.name}
    assert before.index("events") < before.index("tensorboard") < before.index(place.name)
    assert done[-1] == "trials"


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made_study(tmp_path)
    before = (folder / "study.json").read_text()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with held(folder) as open_folder:
        place = open_folder.workplace(trial_id("ewok", 2))
        write_trial(place, "ewok", 2, 1.0)
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as caught:
            open_folder.write("study.json", "{}")
        assert is_disk_full(caught.value)
        with pytest.raises(OSError, match="No space left"):
            open_folder.keep(trial_id("ewok", 2), place)
        monkeypatch.undo()
    assert (folder / "study.json").read_text() == before
    assert len(read(folder).failed) == 1


def test_a_failure_is_forgotten_when_the_trial_succeeds(tmp_path: Path) -> None:
    with held(tmp_path) as folder:
        folder.write("study.json", study_json(("ewok",), 1))
        name = trial_id("ewok", 0)
        folder.note_failure(Failed(name, "ewok", 0, {"a": 1}, "ValueError: <b>", "Traceback", "2026"))
        assert read(tmp_path).failed[0].error == "ValueError: <b>"
        place = folder.workplace(name)
        write_trial(place, "ewok", 0, 1.0)
        folder.keep(name, place)
    results = read(tmp_path)
    assert results.failed == ()
    assert len(results.finished) == 1


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreError, match="is a file, or lies in one"), held(path):
            pass
    with pytest.raises(StoreError, match="cannot be: "), held("/proc/nothing"):
        pass


@pytest.mark.parametrize("theirs", ["partial/thesis/chapter.txt", "lock", "trials/notes.txt"])
def test_somebodys_own_folder_is_not_taken(tmp_path: Path, theirs: str) -> None:
    (tmp_path / theirs).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / theirs).write_text("years of work")
    before = sorted(tmp_path.rglob("*"))
    for take in (held, locked):
        with pytest.raises(StoreError, match=r"`out` must be a new or empty folder, .* --out DIR"), take(tmp_path):
            pass
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / theirs).read_text() == "years of work"


def test_of_what_is_being_written_only_what_we_wrote_is_removed(tmp_path: Path) -> None:
    folder = made_study(tmp_path)
    for name in ("thesis", "draft.2024", "ewok-s000-00000000.7", "study.json.7"):
        (folder / "partial" / name).mkdir()
    with held(folder) as open_folder:
        assert open_folder.leftovers == ("ewok-s000-00000000.7", "study.json.7")
    assert {path.name for path in (folder / "partial").iterdir()} == {"thesis", "draft.2024"}


def test_a_folder_is_known_by_its_study_without_a_lock_too(tmp_path: Path) -> None:
    (made_study(tmp_path) / "lock").unlink()
    (tmp_path / "notes.txt").touch()
    with held(tmp_path) as folder:
        assert folder.has(trial_id("ewok", 0))
