"""The project itself: versions, licences, workflows, and the files that hosts of repositories look for."""

import json
import re
import subprocess

import pytest
import yaml
from django.conf import settings

from config.installation import licences, versions

ROOT = settings.ROOT
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_of_the_release_is_the_same_everywhere(capsys):
    version_of = versions.versions()
    assert set(version_of.values()) == {settings.PLURANK_VERSION}
    assert versions.main(f"v{settings.PLURANK_VERSION}") == 0
    assert versions.main("v9.9.9") == 1
    assert len(capsys.readouterr().out.splitlines()) == len(versions.PLACES)


def test_every_package_and_every_board_is_listed_with_its_licence():
    """Packages for other systems may be on the page without being installed here."""
    lines = licences.PAGE.read_text().splitlines()
    assert [line for line in licences.page().splitlines() if line not in lines] == []
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) > 60
    assert [row for row in rows if "not stated" in row] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_the_version_of_each_action_and_what_they_may_do(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"]
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) if "uses" in step else step["run"]
            # An expression in a script would run what it says: only those of this file are in one.
            assert set(re.findall(r"\$\{\{ *([\w.]+)", step.get("run", ""))) <= {"matrix.stage"}


def test_workflows_run_stages_and_make_targets_that_there_are():
    text = "".join(path.read_text() for path in WORKFLOWS)
    checks = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())
    stages = {*checks["jobs"]["stages"]["strategy"]["matrix"]["stage"]}
    run = (ROOT / ".ci" / "run").read_text()
    known = {re.split("[ ,:]", name)[0] for name in re.findall(r'(?:stage|run_tests) "([a-z][^"]*)"', run)}
    assert stages == known - {"install", "no", "values"}  # the last needs data that are not in the repository
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= targets


def test_a_stage_that_there_is_not_is_refused_before_anything_is_done():
    done = subprocess.run(["bash", ".ci/run", "nothing"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "there is no stage nothing\n")


def test_the_citation_of_the_software_has_what_its_format_requires():
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (content["cff-version"], content["license"]) == ("1.2.0", "Apache-2.0")
    assert {"message", "title", "authors"} <= content.keys()


def test_the_container_for_development_and_the_hooks_call_what_there_is():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).exists()
    assert container["postCreateCommand"] == "make install-dev"
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    makefile = (ROOT / "Makefile").read_text()
    for hook in hooks:
        tool = re.match(r"\.venv/bin/python (-m \w+|manage\.py \w+)", hook["entry"])[1]
        assert tool in makefile


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "docs/releasing.md"])
def test_links_of_the_projects_papers_lead_somewhere(name):
    path = ROOT / name
    links = re.findall(r"\]\(([^)#\s]+)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []
    assert links
