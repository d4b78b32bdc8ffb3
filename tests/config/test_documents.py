"""What the documents promise is held by tests that there are; what they tell people to type works."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class

from config.installation import audit
from config.processes import commands

ROOT = settings.ROOT
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def names_in(file: str) -> set[str]:
    path = ROOT / file
    if not path.exists():
        return set()
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize(("document", "least"), [("security.md", 50), ("reliability.md", 20)])
def test_every_test_that_a_document_names_is_there(document, least):
    named = NAMED.findall((ROOT / "docs" / document).read_text())
    assert [f"{file}::{test}" for file, test in named if test not in names_in(file)] == []
    assert len(named) >= least


def test_every_threat_names_a_test():
    lines = (ROOT / "docs" / "security.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(("| threat", "|---"))]
    assert len(rows) > 25
    assert [row for row in rows if not NAMED.search(row)] == []


def test_every_promise_of_the_design_names_a_test():
    text = (ROOT / "docs" / "reliability.md").read_text()
    promises = re.findall(r"^### (\d)\. .*?(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    parts = re.split(r"^### \d\. ", text, flags=re.MULTILINE)[1:]
    assert promises == list("1234567")
    assert [number for number, part in zip(promises, parts, strict=True) if not NAMED.search(part)] == []


def test_every_package_of_the_locks_is_pinned_with_a_hash():
    for name, least in (("requirements.lock", 40), ("requirements-scoring.lock", 20), ("requirements-dev.lock", 40)):
        text = (ROOT / name).read_text()
        blocks = re.findall(r"^\S.*(?:\n {4}\S.*)*", text, flags=re.MULTILINE)
        packages = [block for block in blocks if not block.startswith("#")]
        assert len(packages) > least
        assert [block.split()[0] for block in packages if "==" not in block or "--hash=sha256:" not in block] == []


def test_the_audit_reads_the_lock_and_finds_what_is_installed_in_another_version():
    pinned = audit.pins((ROOT / "requirements.lock").read_text())
    assert pinned["django"].startswith("5.2.")
    assert audit.differences({"django": "0.1", "no-such-package": "1"})[0].startswith("django is installed as 5.2.")
    assert len(audit.differences({"django": "0.1", "no-such-package": "1"})) == 1


# --- Operating -------------------------------------------------------------------------------------------------------

OPERATE = (ROOT / "docs" / "operate.md").read_text()


def test_every_command_that_the_manual_names_is_there_with_its_options():
    commands = get_commands()
    for line in re.findall(r"manage\.py ([a-z_]+(?: [^`\n]*)?)", OPERATE):
        name, *rest = line.split()
        parser = load_command_class(commands[name], name).create_parser("manage.py", name)
        known = {option for action in parser._actions for option in action.option_strings}
        options = {word for word in rest if word.startswith("--")}
        assert options <= known, f"manage.py {line}"


def test_every_file_and_target_that_the_manual_names_is_there():
    files = re.findall(r"`((?:deploy|docs|config)/[\w./-]+)`|\]\(\.\./((?:deploy|docs)/[\w./-]+)\)", OPERATE)
    named = [one or other for one, other in files]
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"production-like", "faults", "audit"} <= set(re.findall(r"(?:^|`)make ([a-z-]+)", OPERATE, re.M)) <= targets


def test_every_link_within_the_manual_leads_to_a_heading():
    headings = re.findall(r"^##+ (.*)$", OPERATE, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#([^)]+)\)", OPERATE)
    assert "when-something-is-wrong" in links
    assert [link for link in links if link not in anchors] == []


def test_the_units_of_systemd_run_what_the_site_runs():
    python = "/srv/plurank/.venv/bin/python"
    expected = {
        "plurank-web.service": commands.web(python, 8000, n_workers=2),
        "plurank-rankings@.service": commands.worker(python, "rankings", name="rankings%i"),
        "plurank-studies@.service": commands.worker(python, "studies", name="studies%i"),
        "plurank-scoring@.service": commands.worker(python, "scoring", name="scoring%i"),
        "plurank-sweep.service": [python, "manage.py", "sweep"],
    }
    programs = {}
    for path in (ROOT / "deploy" / "systemd").glob("*.service"):
        text = path.read_text().replace("%%h", "%h")
        if "Type=oneshot" in text:  # the backup, below
            continue
        programs[path.name] = re.search(r"^ExecStart=(.*)$", text, flags=re.MULTILINE)[1].split()
        for line in ("NoNewPrivileges=true", "ProtectSystem=strict", "User=plurank", "Restart=always"):
            assert line in text, f"{path.name} lacks {line}"
    assert programs == expected


def test_a_backup_is_made_every_night_by_a_command_that_there_is():
    units = ROOT / "deploy" / "systemd"
    service, timer = ((units / f"plurank-backup.{kind}").read_text() for kind in ("service", "timer"))
    command = re.search(r"^ExecStart=(.*)$", service, flags=re.MULTILINE)[1].split()
    assert command[:3] == ["/srv/plurank/.venv/bin/python", "manage.py", "backup"]
    known = load_command_class("leaderboard", "backup").create_parser("manage.py", "backup").parse_args(command[3:])
    assert (known.folder, known.keep, known.weekly) == (Path("/backups"), 7, 8)
    assert {"User=plurank", "ProtectSystem=strict", "ReadWritePaths=/var/lib/plurank /backups"} <= set(
        service.splitlines()
    )
    assert {"OnCalendar=*-*-* 03:10:00", "Persistent=true"} <= set(timer.splitlines())
    assert " ".join(command[2:]) in OPERATE, "what compose's users put into a crontab is the same"


def test_every_unit_that_fails_tells_someone_and_the_site_is_asked_whether_it_works():
    units = ROOT / "deploy" / "systemd"
    for path in units.glob("*.service"):
        is_alarm = path.name.startswith("plurank-alarm")
        assert ("OnFailure=plurank-alarm@%n.service" in path.read_text().splitlines()) is not is_alarm, path.name
    alarm, health = ((units / f"plurank-{name}.service").read_text() for name in ("alarm@", "health"))
    assert "ConditionFileIsExecutable=/etc/plurank/alarm" in alarm
    assert "ExecStart=/etc/plurank/alarm %i" in alarm
    roles = re.findall(r"^ExecStart=\S+ manage.py check_health (\w+)$", health, flags=re.MULTILINE)
    parser = load_command_class("leaderboard", "check_health").create_parser("manage.py", "check_health")
    assert [parser.parse_args([role]).role for role in roles] == ["web", "sweep", "rankings", "studies"]
    assert "OnCalendar=*:0/10" in (units / "plurank-health.timer").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd on this machine")
def test_systemd_knows_every_line_of_the_units(tmp_path):
    for path in (ROOT / "deploy" / "systemd").iterdir():
        text = path.read_text()
        # What is not on this machine: the program, its user, its folders.
        text = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", text, flags=re.MULTILINE)
        (tmp_path / path.name.replace("@.", "@1.")).write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in run.stderr.splitlines() if str(tmp_path) in line or "plurank" in line]
    assert lines == []


def test_proxies_say_what_scheme_and_address_asked_and_keep_operators_pages_inside():
    nginx, caddy = ((ROOT / "deploy" / name).read_text() for name in ("nginx.conf", "Caddyfile"))
    for words in ("X-Forwarded-Proto $scheme", "X-Forwarded-For $proxy_add_x_forwarded_for", "Host $host"):
        assert words in nginx
    for page in ("/readyz/", "/metrics/"):
        assert page in nginx
        assert page in caddy


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy on this machine")
def test_caddy_accepts_its_file_and_compresses_no_page_with_a_form(tmp_path):
    adapt = ["caddy", "adapt", "--adapter", "caddyfile", "--validate", "--config", str(ROOT / "deploy" / "Caddyfile")]
    # Caddy makes folders in the home of its user.
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    run = subprocess.run(adapt, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    (encode,) = find_handlers(json.loads(run.stdout), "encode")
    assert set(encode["encodings"]) == {"zstd", "gzip"}
    types = encode["match"]["headers"]["Content-Type"]
    assert {"text/css*", "application/j*"} <= set(types)
    assert not [each for each in types if "text/html".startswith(each.removesuffix("*"))]


def find_handlers(config, name):
    """All handlers of this name in what Caddy makes of its file, at any depth."""
    if isinstance(config, list):
        return [handler for each in config for handler in find_handlers(each, name)]
    if not isinstance(config, dict):
        return []
    inside = [handler for each in config.values() for handler in find_handlers(each, name)]
    return [config, *inside] if config.get("handler") == name else inside


def test_the_file_of_caddy_has_each_named_part_once():
    """What Caddy itself refuses, on machines without it."""
    text = (ROOT / "deploy" / "Caddyfile").read_text()
    for block in re.findall(r"^\tencode[^{]*\{\n(.*?)^\t\}", text, flags=re.MULTILINE | re.DOTALL):
        assert len(re.findall(r"^\t\tmatch\b", block, flags=re.MULTILINE)) == 1


def test_production_like_is_a_command_that_explains_itself():
    command = [sys.executable, "-m", "config.processes.production_like", "--help"]
    help_text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "as in production" in help_text


def test_the_compose_file_bounds_what_each_container_may_take():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    unbounded = [name for name, service in services.items() if not {"mem_limit", "cpus", "pids_limit"} <= set(service)]
    assert unbounded == []
    assert [name for name, service in services.items() if not service.get("read_only")] == []
