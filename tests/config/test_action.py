"""The action for other people's workflows: its script, its inputs, and the example that uses it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLE = yaml.safe_load((ROOT / "deploy" / "github" / "submit.yml").read_text())


def test_inputs_reach_the_shell_as_variables_alone():
    scripts = [step["run"] for step in ACTION["runs"]["steps"]]
    assert [script for script in scripts if "${{" in script] == []
    values = " ".join(value for step in ACTION["runs"]["steps"] for value in step["env"].values())
    assert set(re.findall(r"inputs\.([\w-]+)", values)) == set(ACTION["inputs"])


def test_the_example_says_what_the_action_needs_and_nothing_else():
    (use,) = [step for step in EXAMPLE["jobs"]["submit"]["steps"] if "with" in step and "board" in step["with"]]
    required = {name for name, entry in ACTION["inputs"].items() if entry.get("required")}
    assert required <= set(use["with"]) <= set(ACTION["inputs"])


def run_script(folder, program, **variables):
    """Run the step that submits, with a `plurank` that is the shell script `program`."""
    path = folder / "plurank" / "bin"
    path.mkdir(parents=True)
    (path / "plurank").write_text(f"#!/bin/sh\n{program}\n")
    (path / "plurank").chmod(0o755)
    environment = {
        **os.environ, "RUNNER_TEMP": str(folder), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "FILES": "README.md", "BOARD": "elsewhere", "MAPPING": "", "NOTE": "a note; with $signs", "DRY_RUN": "false",
        "KEY": "1", "PLURANK_TOKEN": "none",
    }  # fmt: skip
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", ACTION["runs"]["steps"][1]["run"]],
        env=environment | variables, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_script_calls_the_command_as_it_is_and_fails_with_it(tmp_path):
    answer = run_script(tmp_path, f'cd "{ROOT}" && exec "{sys.executable}" -m plurank "$@"')
    assert answer.returncode == 2
    assert "--board elsewhere: expected the URL of a board" in answer.stderr
    assert (tmp_path / "summary.md").read_text() == ""


@pytest.mark.parametrize("word", ["true", "True", "TRUE"])
def test_a_dry_run_is_asked_for_in_any_case(tmp_path, word):
    assert run_script(tmp_path, 'echo "$@"', DRY_RUN=word).stdout.split()[-1] == "--dry-run"


@pytest.mark.parametrize("word", ["false", "False", ""])
def test_without_a_dry_run_the_action_submits_with_a_key(tmp_path, word):
    arguments = run_script(tmp_path, 'echo "$@"', DRY_RUN=word).stdout.split()
    assert (arguments[-2], "--dry-run" in arguments) == ("--key", False)


@pytest.mark.parametrize("word", ["yes", "1", "ture"])
def test_any_other_word_for_a_dry_run_stops_the_step_and_submits_nothing(tmp_path, word):
    answer = run_script(tmp_path, "echo submitted", DRY_RUN=word)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == f"error: dry-run is '{word}'; expected true or false\n"
