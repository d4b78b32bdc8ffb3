"""docker-compose.yml says what `config.processes` runs, and can be read without a Docker engine."""

import re

import pytest
import yaml
from django.conf import settings

from config import processes
from leaderboard.management.commands.check_health import ROLES

COMPOSE = yaml.safe_load((settings.ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = {"web": "web", "rankings": "rankings", "studies": "studies", "sweeper": "sweep"}


def test_every_process_of_the_site_is_a_service_with_its_very_command():
    commands = {name: SERVICES[service]["command"] for service, name in OURS.items()}
    assert commands == {
        "web": processes.web("python", 8000, host="0.0.0.0", n_workers=2),
        "rankings": processes.worker("python", "rankings"),
        "studies": processes.worker("python", "studies"),
        "sweep": ["python", "manage.py", "sweep"],
    }


@pytest.mark.parametrize("service", [*OURS, "db", "redis"])
def test_every_service_that_stays_has_a_health_check_and_comes_back(service):
    assert SERVICES[service]["restart"] == "unless-stopped"
    assert SERVICES[service]["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize(("service", "role"), OURS.items())
def test_a_health_check_asks_for_a_role_that_there_is(service, role):
    assert SERVICES[service]["healthcheck"]["test"] == ["CMD", "python", "manage.py", "check_health", role]
    assert role in ROLES


@pytest.mark.parametrize("service", [*OURS, "migrate"])
def test_our_containers_may_do_no_more_than_they_need(service):
    found = SERVICES[service]
    assert (found["read_only"], found["cap_drop"], found["security_opt"]) == (True, ["ALL"], ["no-new-privileges:true"])
    assert (found["user"], found["pids_limit"]) == ("10001:10001", 200)
    assert {"mem_limit", "cpus"} <= set(found)
    assert found["environment"]["PLURANK_PRODUCTION"] == "true"


def test_nothing_starts_before_the_database_is_migrated():
    assert all(
        SERVICES[service]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        for service in OURS
    )
    assert SERVICES["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}


def test_every_variable_that_the_file_sets_is_one_that_the_settings_read():
    read = set(re.findall(r'"([A-Z_]+)"', (settings.ROOT / "config" / "settings.py").read_text()))
    assert set(SERVICES["web"]["environment"]) <= read


def test_every_other_variable_comes_from_the_file_beside_it():
    files = [SERVICES[service]["env_file"] for service in [*OURS, "migrate"]]
    assert files == 5 * [[{"path": ".env", "required": False}]]


@pytest.mark.parametrize("service", ["rankings", "studies"])
def test_a_worker_is_stopped_by_the_signal_on_which_it_gives_its_job_back(service):
    assert (SERVICES[service]["stop_signal"], SERVICES[service]["stop_grace_period"]) == ("SIGQUIT", "20s")
    unit = (settings.ROOT / "deploy" / "systemd" / f"plurank-{service}@.service").read_text().splitlines()
    assert {"KillSignal=SIGQUIT", "TimeoutStopSec=20", "KillMode=mixed"} <= set(unit)


@pytest.mark.parametrize("service", [*OURS, "migrate", "db", "redis"])
def test_no_log_grows_without_end(service):
    assert SERVICES[service]["logging"]["options"] == {"max-size": "20m", "max-file": "5"}


def test_secrets_come_from_outside_and_must():
    text = (settings.ROOT / "docker-compose.yml").read_text()
    assert "${PLURANK_SECRET_KEY:?" in text
    assert "${POSTGRES_PASSWORD:?" in text


def test_the_image_runs_as_nobody_in_particular_from_the_lock():
    lines = (settings.ROOT / "Dockerfile").read_text().splitlines()
    assert "USER plurank" in lines
    assert "RUN pip install --require-hashes --requirement requirements.lock" in lines
