"""Which processes make up a site, and the command that runs them without containers."""

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from config.processes.commands import address_of, default_host, hosts_of, processes, study_workers
from config.processes.supervisor import sole_supervisor


def test_a_queue_has_as_many_workers_as_one_wants_each_with_a_name_of_its_own():
    commands = processes("python", 8000, n_web=3, n_workers={"rankings": 2, "studies": 0, "scoring": 0})
    assert list(commands) == ["web", "rankings", "rankings2", "sweep"]
    names = [command[command.index("--hostname") + 1] for command in (commands["rankings"], commands["rankings2"])]
    assert names == ["rankings@%h", "rankings2@%h"]
    assert commands["web"][commands["web"].index("--workers") + 1] == "3"
    assert list(processes("python", 8000)) == ["web", "rankings", "studies", "scoring", "sweep"]


def test_the_web_server_listens_on_this_machine_alone_unless_told_otherwise():
    at = {host: processes("python", 7860, **({"host": host} if host else {}))["web"] for host in ("", "0.0.0.0")}
    assert [command[command.index("--bind") + 1] for command in at.values()] == ["127.0.0.1:7860", "0.0.0.0:7860"]


@pytest.mark.parametrize(
    ("value", "host"),
    [("", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("::1", "::1"), ("x86_64-conda-linux-gnu", "127.0.0.1")],
)
def test_the_variable_host_counts_where_it_is_an_address(monkeypatch, value, host):
    monkeypatch.setenv("HOST", value)
    assert default_host() == host


@pytest.mark.parametrize(
    ("host", "address", "further_name"),
    [
        ("127.0.0.1", "http://127.0.0.1:8123", None),
        ("::1", "http://[::1]:8123", None),
        ("0.0.0.0", "http://127.0.0.1:8123", "*"),
        ("::", "http://127.0.0.1:8123", "*"),
        ("192.168.1.5", "http://192.168.1.5:8123", "192.168.1.5"),
        ("fd00::5", "http://[fd00::5]:8123", "[fd00::5]"),
    ],
)
def test_a_site_that_people_try_is_asked_where_it_listens_and_by_the_names_that_lead_there(host, address, further_name):
    assert address_of(host, 8123) == address
    assert hosts_of(host).split(",") == ["127.0.0.1", "localhost", "[::1]", *([further_name] if further_name else [])]


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
