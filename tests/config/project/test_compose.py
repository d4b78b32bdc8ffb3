"""docker-compose.yml says what `config.processes.commands` runs, and can be read without a Docker engine."""

import re

import pytest
import yaml
from django.conf import settings

from config.processes import commands
from config.processes.container import job_memory, memory_limit
from leaderboard.management.commands.check_health import ROLES

COMPOSE = yaml.safe_load((settings.ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = {"web": "web", "rankings": "rankings", "studies": "studies", "scoring": "scoring", "sweeper": "sweep"}


def test_every_process_of_the_site_is_a_service_with_its_very_command():
    in_compose = {name: SERVICES[service]["command"] for service, name in OURS.items()}
    assert in_compose == {
        "web": commands.web("python", 8000, host="0.0.0.0", n_workers=2),
        "rankings": commands.worker("python", "rankings"),
        "studies": commands.worker("python", "studies"),
        "scoring": commands.worker("python", "scoring"),
        "sweep": ["python", "manage.py", "sweep"],
    }


@pytest.mark.parametrize("service", [*OURS, "db", "redis"])
def test_every_service_that_stays_has_a_health_check_and_comes_back(service):
    assert SERVICES[service]["restart"] == "unless-stopped"
    assert SERVICES[service]["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize(("service", "role"), OURS.items())
def test_a_health_check_asks_for_a_role_that_there_is(service, role):
    here = [] if role == "web" else ["--here"]  # another container's process does not make this one well
    assert SERVICES[service]["healthcheck"]["test"] == ["CMD", "python", "manage.py", "check_health", role, *here]
    assert role in ROLES


@pytest.mark.parametrize("service", [*OURS, "migrate"])
def test_our_containers_may_do_no_more_than_they_need(service):
    container = SERVICES[service]
    assert (container["read_only"], container["cap_drop"], container["security_opt"]) == (
        True,
        ["ALL"],
        ["no-new-privileges:true"],
    )
    assert (container["user"], container["pids_limit"]) == ("10001:10001", 200)
    assert {"mem_limit", "cpus"} <= set(container)
    assert container["environment"]["PLURANK_PRODUCTION"] == "true"


def test_nothing_starts_before_the_database_is_migrated():
    assert all(
        SERVICES[service]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        for service in OURS
    )
    assert SERVICES["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}


def test_every_variable_that_the_file_sets_is_one_that_the_settings_read():
    modules = [file.read_text() for file in (settings.ROOT / "config" / "settings").glob("*.py")]
    read = set(re.findall(r'"([A-Z_]+)"', "\n".join(modules)))
    assert set(SERVICES["web"]["environment"]) <= read


def test_keys_and_what_is_set_of_emails_also_come_from_the_environment():
    names = re.findall(r"^\| `(PLURANK_\w+)`", (settings.ROOT / "docs" / "settings.md").read_text(), flags=re.MULTILINE)
    wanted = {name for name in names if re.search("_(KEYS?$|EMAIL_)", name)}
    assert len(wanted) > 12
    assert wanted - SERVICES["web"]["environment"].keys() == set()


def test_every_other_variable_comes_from_the_file_beside_it():
    files = [SERVICES[service]["env_file"] for service in [*OURS, "migrate"]]
    assert files == 6 * [[{"path": ".env", "required": False}]]


@pytest.mark.parametrize("service", ["rankings", "studies", "scoring"])
def test_a_worker_is_stopped_by_the_signal_on_which_it_gives_its_job_back(service):
    assert (SERVICES[service]["stop_signal"], SERVICES[service]["stop_grace_period"]) == ("SIGQUIT", "20s")
    unit = (settings.ROOT / "deploy" / "systemd" / f"plurank-{service}@.service").read_text().splitlines()
    assert {"KillSignal=SIGQUIT", "TimeoutStopSec=20", "KillMode=mixed"} <= set(unit)


@pytest.mark.parametrize("service", [*OURS, "migrate", "db", "redis"])
def test_no_log_grows_without_end(service):
    assert SERVICES[service]["logging"]["options"] == {"max-size": "20m", "max-file": "5"}


def test_only_what_the_containers_depend_on_cannot_be_set_from_outside():
    fixed = {name for name, value in SERVICES["web"]["environment"].items() if f"${{{name}" not in value}
    assert fixed == {"PLURANK_PRODUCTION", "PLURANK_VAR", "DATABASE_URL", "REDIS_URL"}


def test_a_release_is_built_under_its_own_name_and_leaves_the_one_before_it():
    images = {SERVICES[service]["image"] for service in [*OURS, "migrate"]}
    assert images == {f"plurank:${{PLURANK_IMAGE_TAG:-{settings.PLURANK_VERSION}}}"}


@pytest.mark.parametrize("file", [".gitignore", ".dockerignore"])
@pytest.mark.parametrize("pattern", [".env", ".env.*", "*.backup"])
def test_neither_secrets_nor_backups_get_into_the_repository_or_an_image(file, pattern):
    assert pattern in (settings.ROOT / file).read_text().splitlines()


def test_images_keep_to_a_major_version_and_the_programs_for_backups_are_of_the_servers():
    images = {name: SERVICES[name]["image"] for name in ("db", "redis")}
    base = re.search(r"^FROM (\S+)$", (settings.ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)[1]
    # Debian trixie has PostgreSQL 17, and pg_dump refuses a server that is newer than itself.
    assert (images, base) == ({"db": "postgres:17-alpine", "redis": "redis:7-alpine"}, "python:3.13-slim-trixie")


def test_secrets_come_from_outside_and_must():
    text = (settings.ROOT / "docker-compose.yml").read_text()
    assert "${PLURANK_SECRET_KEY:?" in text
    assert "${POSTGRES_PASSWORD:?" in text


def test_the_image_runs_as_nobody_in_particular_from_the_lock():
    lines = (settings.ROOT / "Dockerfile").read_text().splitlines()
    assert "USER plurank" in lines
    assert "RUN pip install --require-hashes --requirement requirements.lock" in lines
    of_metrics = "pip install --require-hashes --requirement requirements-scoring.lock"
    assert f'RUN if [ -n "$SCORING" ]; then {of_metrics}; fi' in lines
    assert '{SCORING: "${SCORING_LIBRARIES:-}"}' in (settings.ROOT / "docker-compose.yml").read_text()
    assert f".venv/bin/{of_metrics}" in OPERATE


# --- Memory ----------------------------------------------------------------------------------------------------------

OPERATE = (settings.ROOT / "docs" / "operate.md").read_text()
STAYING = ["db", "redis", *OURS]


def megabytes(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([mgMG])b?", text).groups()
    return int(number) * (1024 if unit in "gG" else 1)


def variable(text: str) -> tuple[str, str]:
    """The name of a `${NAME:-default}`, and its default."""
    return re.fullmatch(r"\$\{([A-Z_]+):-([^}]+)\}", text).groups()


def memory_table() -> dict[str, list[str]]:
    """The table of the manual: what each variable is on machines of 4, 8 and 16 GB."""
    rows = re.findall(r"^\| `([A-Z_]+)`[^|]*\| (\S+) \| (\S+) \| (\S+) \|$", OPERATE, flags=re.MULTILINE)
    return {name: list(values) for name, *values in rows if name.endswith(("MEMORY", "CHILDREN"))}


def test_the_limits_fit_the_machine_that_the_manual_names():
    defaults = dict(variable(SERVICES[service]["mem_limit"]) for service in STAYING)
    table = memory_table()
    limits = {name: values for name, values in table.items() if name in defaults}
    # A machine of 4 GB has no room for a worker that scores predictions; it starts only if one asks for it.
    assert SERVICES["scoring"]["profiles"] == ["scoring"]
    assert limits["PLURANK_SCORING_MEMORY"][0] == "–"
    shipped = {name: values[values[0] == "–"] for name, values in limits.items()}
    assert shipped == defaults
    sums = [sum(megabytes(values[i]) for values in limits.values() if values[i] != "–") for i in range(3)]
    assert f"| together | {sums[0]:,} MB | {sums[1]:,} MB | {sums[2]:,} MB |" in OPERATE
    assert [total < gigabytes * 1024 - 256 for total, gigabytes in zip(sums, (4, 8, 16), strict=True)] == [True] * 3


def megabytes_of_web(command: str, children: str) -> int:
    """What the manual's formula says that the web server may take."""
    assert "\n    web processes x (250 MB + children x PLURANK_ON_DEMAND_MEMORY_MB)\n" in OPERATE
    n_processes = int(re.search(r"--workers (\d+)", command)[1])
    return n_processes * (250 + int(children) * (settings.ON_DEMAND_MEMORY_BYTES >> 20))


def test_the_web_server_stays_within_its_limit_wherever_it_is_started():
    deploy = settings.ROOT / "deploy"
    unit = dict(
        re.findall(r"^(\w+)=(.*)$", (deploy / "systemd" / "plurank-web.service").read_text(), flags=re.MULTILINE)
    )
    children = unit["Environment"].removeprefix("PLURANK_ON_DEMAND_CHILDREN=")
    assert megabytes_of_web(unit["ExecStart"], children) <= megabytes(unit["MemoryMax"])
    values = yaml.safe_load((deploy / "helm" / "values.yaml").read_text())
    limit = megabytes(values["web"]["resources"]["limits"]["memory"].removesuffix("i"))
    command = " ".join(SERVICES["web"]["command"])  # that of the chart is the same
    assert megabytes_of_web(command, values["settings"]["PLURANK_ON_DEMAND_CHILDREN"]) <= limit
    table = memory_table()
    for children, limit in zip(table["PLURANK_ON_DEMAND_CHILDREN"], table["PLURANK_WEB_MEMORY"], strict=True):
        assert megabytes_of_web(command, children) <= megabytes(limit)


def test_redis_stays_within_its_limit():
    table = memory_table()
    for largest, limit in zip(table["REDIS_MAXMEMORY"], table["REDIS_MEMORY"], strict=True):
        assert 1.5 * megabytes(largest) <= megabytes(limit)
    name, default = variable(SERVICES["redis"]["command"][SERVICES["redis"]["command"].index("--maxmemory") + 1])
    assert table[name][0] == default
    name, default = variable(SERVICES["web"]["environment"]["PLURANK_ON_DEMAND_CHILDREN"])
    assert table[name][0] == default


@pytest.mark.parametrize("service", OURS)
def test_the_units_of_systemd_have_the_same_limits(service):
    unit = {"sweeper": "sweep", "web": "web"}.get(service, f"{service}@")
    text = (settings.ROOT / "deploy" / "systemd" / f"plurank-{unit}.service").read_text()
    limit = re.search(r"^MemoryMax=(\S+)$", text, flags=re.MULTILINE)[1]
    assert megabytes(limit) == megabytes(variable(SERVICES[service]["mem_limit"])[1])


# --- What a job may take of it ---------------------------------------------------------------------------------------


def groups(folder, **limits: str):
    """A tree of control groups with these limits, `_` for what is within; and the file that names this process's."""
    path = ""
    for name, limit in limits.items():
        path = f"{path}/{name}" if path else name
        (folder / path).mkdir()
        (folder / path / "memory.max").write_text(f"{limit}\n")
    (folder / "cgroup").write_text(f"0::/{path}\n")
    return folder / "cgroup", folder


def test_the_least_limit_around_a_process_counts_and_none_where_there_is_none(tmp_path):
    inside = groups(tmp_path, slice="2000", unit="max", scope="3000")
    assert memory_limit(*inside) == 2000
    (tmp_path / "memory.max").write_text("500\n")  # in a container the root is the container's own
    assert memory_limit(*inside) == 500
    assert memory_limit(tmp_path / "none", tmp_path) is None
    (tmp_path / "cgroup").write_text("4:memory:/old\n")
    assert memory_limit(*inside) is None


@pytest.mark.parametrize(("limit", "left"), [(None, 4096), (640, 512), (896, 768), (5120, 4096), (200, 100)], ids=str)
def test_a_job_takes_no_more_than_its_container_leaves_it(limit, left):
    assert job_memory(4096 * 2**20, None if limit is None else limit * 2**20) == left * 2**20
