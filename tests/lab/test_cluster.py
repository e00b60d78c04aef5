"""Trials on a Ray cluster: the same numbers, whatever dies there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install 'ewok[ray]'")

from ewok.lab.cluster import Cluster, NoClusterError, packed, unpack
from ewok.lab.store import read
from tests.lab.test_launch import EWOK, numbers, run

ROOT = Path(__file__).parent.parent.parent
METHODS = {"baseline": {}, "ewok": EWOK}


def in_python(program: str, *args: object, **variables: str) -> str:
    """Ray leaves threads and sockets behind, so it has a process of its own."""
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, args)]
    environment = {**os.environ, **paths, **variables}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself, which would wait for minutes."""

    def init(**options: object) -> None:
        raise AssertionError("Ray is asked")

    monkeypatch.setattr("ewok.lab.cluster.ray.init", init)


def test_files_come_back_as_they_were_sent(tmp_path: Path) -> None:
    (tmp_path / "from" / "tensorboard").mkdir(parents=True)
    (tmp_path / "from" / "tensorboard" / "events").write_bytes(b"\x00\x01")
    (tmp_path / "from" / "model.zip").write_text("m")
    (tmp_path / "to").mkdir()
    unpack(packed(tmp_path / "from"), tmp_path / "to")
    assert (tmp_path / "to" / "tensorboard" / "events").read_bytes() == b"\x00\x01"
    assert sorted(path.name for path in (tmp_path / "to").rglob("*")) == ["events", "model.zip", "tensorboard"]


@pytest.mark.parametrize("address", ["127.0.0.1:{closed}", "nowhere.invalid:6379", "ray://127.0.0.1:{closed}", "a:b"])
def test_an_address_where_no_ray_answers_is_told_soon(address: str, unasked: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = server.getsockname()[1]
    with pytest.raises(NoClusterError, match="--ray local"):
        Cluster(address.format(closed=closed))


@pytest.mark.slow
def test_something_else_that_answers_is_told_soon(unasked: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(NoClusterError, match="it is no Ray"):
        Cluster(f"127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.slow
def test_a_cluster_gives_the_numbers_that_this_machine_gives(tmp_path: Path) -> None:
    program = """
        import sys
        from ewok.lab.cluster import Cluster
        from ewok.lab.launch import run_study
        from tests.lab.test_cluster import METHODS
        from tests.lab.test_launch import study_of

        cluster = Cluster("local", 2)
        print(run_study(study_of("raises", methods=METHODS, seeds=3), sys.argv[1], runner=cluster))
        cluster.close()
    """
    assert "num_done=4, num_failed=2" in in_python(program, tmp_path / "ray")
    run(tmp_path / "here", "raises", methods=METHODS, seeds=3)
    assert numbers(read(tmp_path / "ray")) == numbers(read(tmp_path / "here"))
    assert {one.error for one in read(tmp_path / "ray").failed} == {"RuntimeError: this seed is unlucky"}
    assert list((tmp_path / "ray" / "partial").iterdir()) == []


@pytest.mark.slow
def test_a_node_that_dies_in_the_middle_costs_nothing_but_time(tmp_path: Path) -> None:
    """Two nodes; the one that the command is not on is killed while it is at a trial."""
    program = """
        import sys, threading, time
        from pathlib import Path
        from ray.cluster_utils import Cluster as Nodes
        from ewok.lab.cluster import Cluster
        from ewok.lab.launch import run_study
        from tests.lab.test_cluster import METHODS
        from tests.lab.test_launch import study_of

        out, marks = map(Path, sys.argv[1:])
        nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        second = nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()

        def kill():
            while not list(marks.glob(f"{second.node_id}.*")):
                time.sleep(0.1)
            time.sleep(1.0)
            nodes.remove_node(second, allow_graceful=False)
            (marks / "killed").touch()

        threading.Thread(target=kill, daemon=True).start()
        cluster = Cluster(nodes.address)
        print(run_study(study_of("marks_node", methods=METHODS, seeds=3), out, runner=cluster))
        cluster.close()
        nodes.shutdown()
    """
    marks = tmp_path / "marks"
    marks.mkdir()
    told = in_python(program, tmp_path / "ray", marks, EWOK_TEST_MARK=str(marks))
    assert "num_done=6, num_failed=0" in told
    assert (marks / "killed").exists()
    assert len(list(marks.glob("*.*.*"))) > 6, "one was begun twice"
    run(tmp_path / "here", "coin", methods=METHODS, seeds=3)
    there, here = numbers(read(tmp_path / "ray")), numbers(read(tmp_path / "here"))
    assert list(there.values()) == list(here.values())
