"""The action for other people's workflows: its script, its inputs, and the example that uses it."""

import os
import re
import subprocess
import sys
from pathlib import Path

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


def test_the_script_calls_the_command_as_it_is_and_fails_with_it(tmp_path):
    folder = tmp_path / "plurank" / "bin"
    folder.mkdir(parents=True)
    (folder / "plurank").write_text(f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m plurank "$@"\n')
    (folder / "plurank").chmod(0o755)
    summary, script = tmp_path / "summary.md", ACTION["runs"]["steps"][1]["run"]
    environment = {
        **os.environ, "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary), "FILES": "README.md",
        "BOARD": "elsewhere", "MAPPING": "", "NOTE": "a note; with $signs", "DRY_RUN": "false", "KEY": "1",
        "PLURANK_TOKEN": "none",
    }  # fmt: skip
    answer = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 2
    assert "--board elsewhere: expected the address of a board" in answer.stderr
    assert summary.read_text() == ""
