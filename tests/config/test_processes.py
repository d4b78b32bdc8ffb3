"""Which processes make up a site, and the command that runs them without containers."""

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from config.processes.commands import processes, study_workers
from config.processes.supervisor import sole_supervisor


def test_a_queue_has_as_many_workers_as_one_wants_each_with_a_name_of_its_own():
    found = processes("python", 8000, n_web=3, n_workers={"rankings": 2, "studies": 0})
    assert list(found) == ["web", "rankings", "rankings2", "sweep"]
    names = [command[command.index("--hostname") + 1] for command in (found["rankings"], found["rankings2"])]
    assert names == ["rankings@%h", "rankings2@%h"]
    assert found["web"][found["web"].index("--workers") + 1] == "3"
    assert list(processes("python", 8000)) == ["web", "rankings", "studies", "sweep"]


@pytest.mark.parametrize(("processors", "workers"), [({0}, 1), ({3, 5}, 2), (set(range(32)), 4)])
def test_a_machine_has_a_worker_for_studies_per_processor_that_it_may_use_and_four_at_most(
    processors, workers, monkeypatch
):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: processors)
    monkeypatch.setattr("config.processes.commands.memory_limit", lambda: None)
    assert study_workers() == workers


@pytest.mark.parametrize(("gigabytes", "workers"), [(1, 1), (4, 2), (64, 4)])
def test_where_memory_is_limited_there_is_a_worker_for_studies_for_every_two_gigabytes(gigabytes, workers, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(32)))
    monkeypatch.setattr("config.processes.commands.memory_limit", lambda: gigabytes << 30)
    assert study_workers() == workers


def test_two_supervisors_do_not_serve_from_one_folder():
    with (
        sole_supervisor(settings.VAR, "http://127.0.0.1:8000/"),
        pytest.raises(CommandError, match="already runs from this folder"),
    ):
        call_command("serve", "--port", "8001")
