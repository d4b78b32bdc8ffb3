"""The Helm chart and the examples for hosts of containers: they run what docker-compose.yml runs."""

import os
import re
import subprocess
import tomllib

import pytest
import yaml
from django.conf import settings

from config.processes.commands import QUEUES, WEB_STOP_SECONDS
from tests.config.project.helm import merged, render
from tests.config.project.test_compose import megabytes, variable

ROOT = settings.ROOT
CHART = ROOT / "deploy" / "helm"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
DOCUMENTED = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "settings.md").read_text(), flags=re.MULTILINE))
EVERYTHING = {
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a": "b"}},
    "workers": {queue: {"autoscaling": {"enabled": True}} for queue in QUEUES},
    "pullSecrets": [{"name": "registry"}],
}


def objects(changes=None) -> dict[tuple[str, str], dict]:
    rendered = render(CHART, "boards", merged(VALUES, changes or {}))
    return {(one["kind"], one["metadata"]["name"]): one for one in rendered}


def containers(deployment: dict) -> list[dict]:
    return deployment["spec"]["template"]["spec"]["containers"]


def test_there_is_a_deployment_for_each_process_and_a_job_that_migrates():
    assert set(objects()) == {
        ("ConfigMap", "boards-settings"), ("Job", "boards-migrate-1"), ("Service", "boards"),
        ("Deployment", "boards-web"), ("Deployment", "boards-sweep"),
        *(("Deployment", f"boards-{queue}") for queue in QUEUES),
        *(("PodDisruptionBudget", f"boards-{part}") for part in ("web", *QUEUES)),
    }  # fmt: skip


@pytest.mark.parametrize(("part", "service"), [("web", "web"), ("sweep", "sweeper"), *((q, q) for q in QUEUES)])
def test_each_runs_the_command_of_docker_compose_within_its_memory(part, service):
    [container] = containers(objects()["Deployment", f"boards-{part}"])
    assert container["command"] == COMPOSE[service]["command"]
    assert container["image"] == f"plurank:{settings.PLURANK_VERSION}"
    health = COMPOSE[service]["healthcheck"]["test"][1:]
    assert container["readinessProbe"]["exec"]["command"] == health
    # A pod is not started again because the database or Redis is away.
    assert container["livenessProbe"]["exec"]["command"] == [*health, "--alive"]
    _, limit = variable(COMPOSE[service]["mem_limit"])
    assert megabytes(container["resources"]["limits"]["memory"].removesuffix("i")) == megabytes(limit)


@pytest.mark.parametrize("part", ["web", "sweep", *QUEUES])
def test_nothing_starts_before_the_database_is_migrated(part):
    waiting = objects()["Deployment", f"boards-{part}"]["spec"]["template"]["spec"]["initContainers"][-1]
    assert waiting["name"] == "migrated"
    assert waiting["command"] == ["sh", "-c", "until python manage.py migrate --check; do sleep 3; done"]
    assert waiting["image"] == f"plurank:{settings.PLURANK_VERSION}"


def test_no_one_kills_a_web_server_that_still_answers_what_is_under_way():
    """Each waits some seconds longer than gunicorn does; a pod also until no one sends it new requests."""
    least = WEB_STOP_SECONDS + 5
    unit = (ROOT / "deploy" / "systemd" / "plurank-web.service").read_text()
    assert " ".join(COMPOSE["web"]["command"][1:6]) in unit.replace("127.0.0.1", "0.0.0.0")
    assert f" --graceful-timeout {WEB_STOP_SECONDS} " in unit
    assert int(re.search(r"^TimeoutStopSec=(\d+)$", unit, flags=re.MULTILINE)[1]) >= least
    assert int(COMPOSE["web"]["stop_grace_period"].removesuffix("s")) >= least
    deployment = objects()["Deployment", "boards-web"]
    [web] = containers(deployment)
    sleep, pause = web["lifecycle"]["preStop"]["exec"]["command"]
    assert (sleep, int(pause) >= 5) == ("sleep", True)
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= least + int(pause)


@pytest.mark.parametrize("changes", [{}, EVERYTHING], ids=["as it is", "everything"])
def test_no_container_is_root_or_writes_anywhere_but_its_folders(changes):
    for (kind, _), one in objects(changes).items():
        if kind not in ("Deployment", "Job"):
            continue
        pod = one["spec"]["template"]["spec"]
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
        for container in [*containers(one), *pod.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
            }  # fmt: skip
            assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/var/lib/plurank", "/tmp"}
            assert container["envFrom"][1]["secretRef"]["name"] == "plurank"


def test_selectors_choose_the_pods_of_their_own_deployment():
    everything = objects(EVERYTHING)
    labels = {
        name: one["spec"]["template"]["metadata"]["labels"]
        for (kind, name), one in everything.items()
        if kind == "Deployment"
    }
    for (kind, name), one in everything.items():
        if kind in ("Deployment", "PodDisruptionBudget"):
            chosen = one["spec"]["selector"]["matchLabels"].items()
            assert [other for other, own in labels.items() if chosen <= own.items()] == [name]
    service = everything["Service", "boards"]["spec"]["selector"].items()
    assert [name for name, own in labels.items() if service <= own.items()] == ["boards-web"]


def test_no_disruption_budget_stops_a_node_from_being_drained():
    everything = objects()
    budgets = {name: one["spec"] for (kind, name), one in everything.items() if kind == "PodDisruptionBudget"}
    assert budgets
    for name, budget in budgets.items():
        replicas = everything["Deployment", name]["spec"]["replicas"]
        assert budget.get("maxUnavailable", replicas - budget.get("minAvailable", 0)) >= 1, name


def test_workers_grow_with_what_waits_in_their_queue():
    everything = objects(EVERYTHING)
    for queue in QUEUES:
        scaler = everything["HorizontalPodAutoscaler", f"boards-{queue}"]["spec"]
        assert scaler["scaleTargetRef"]["name"] == f"boards-{queue}"
        metric = scaler["metrics"][0]["external"]["metric"]
        assert metric == {
            "name": "plurank_queue_jobs", "selector": {"matchLabels": {"queue": queue, "state": "waiting"}},
        }  # fmt: skip
        assert "replicas" not in everything["Deployment", f"boards-{queue}"]["spec"]
    assert everything["Ingress", "boards"]["spec"]["tls"] == [{"secretName": "tls", "hosts": ["boards.example"]}]


def test_every_setting_of_the_examples_is_documented():
    fly = tomllib.loads((ROOT / "deploy" / "fly" / "fly.toml").read_text())
    [web] = yaml.safe_load((ROOT / "deploy" / "render" / "render.yaml").read_text())["services"]
    names = {*VALUES["settings"], *fly["env"], *(entry["key"] for entry in web["envVars"])}
    assert names - DOCUMENTED <= {"PORT"}
    assert fly["mounts"]["destination"] == web["disk"]["mountPath"] == "/var/lib/plurank"
    assert str(fly["http_service"]["internal_port"]) == fly["env"]["PORT"]


def test_a_space_is_the_image_on_its_own_port_for_the_user_of_spaces():
    lines = (ROOT / "deploy" / "space" / "Dockerfile").read_text().splitlines()
    image = (ROOT / "Dockerfile").read_text().splitlines()
    shared = [line for line in lines if line.startswith(("FROM", "RUN pip", "COPY . .", "WORKDIR"))]
    assert [line for line in shared if line not in image] == []
    assert len(shared) == 4
    settings_of_space = dict(re.findall(r"(\w+)=(\S+)", " ".join(lines)))
    assert (settings_of_space["PORT"], "EXPOSE 7860" in lines) == ("7860", True)
    assert {name for name in settings_of_space if name.startswith("PLURANK")} <= DOCUMENTED
    about = yaml.safe_load((ROOT / "deploy" / "space" / "README.md").read_text().split("---")[1])
    assert (about["sdk"], about["app_port"]) == ("docker", 7860)


@pytest.mark.parametrize("named", [{}, {"PLURANK_SECRET_KEY": "of the Space", "PLURANK_HOSTS": "boards.example"}])
def test_a_space_is_asked_by_its_own_name_and_its_settings_count_first(tmp_path, named):
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] && echo random || { echo "$@"; env; }\n')
    python.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SPACE_HOST": "owner-space.hf.space", **named}
    done = subprocess.run(
        ["sh", str(ROOT / "deploy/space/start.sh")], env=environment, capture_output=True, text=True, check=True
    )
    command, *variables = done.stdout.splitlines()
    assert command == "manage.py serve --prepare --demonstration"
    own = dict(line.split("=", 1) for line in variables if line.startswith("PLURANK"))
    assert own == {
        "PLURANK_HOSTS": "owner-space.hf.space", "PLURANK_ORIGINS": "https://owner-space.hf.space",
        "PLURANK_SECRET_KEY": "random",
    } | named  # fmt: skip
