"""Clients that tools make of the schema, in Python and TypeScript: they compile, and run scripts on a running site.

The tools are downloaded into throwaway folders.
"""

import json
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from leaderboard.accounts.tokens import create_token
from ranking_engine.catalogue.registry import RULES
from tests.running_site import RunningSite

HERE = Path(__file__).resolve().parent
COMPILER = "--strict --noUncheckedIndexedAccess --skipLibCheck --module nodenext --moduleResolution nodenext"
# The generator knows no zip; it is bytes.
SETTINGS = "post_hooks: []\ncontent_type_overrides:\n  application/zip: application/octet-stream\n"
COLUMNS = ["system", "Task 1", "Task 2", "Task 3", "Task 4", "Task 5"]


def run(*command, folder):
    answer = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert answer.returncode == 0, f"{answer.stdout[-4000:]}\n{answer.stderr[-4000:]}"
    return answer.stdout


@pytest.fixture
def served(make_committed, committed_db, tmp_path):
    """A running site with two benchmarks: its address, a token of an owner, and the key of a published one."""
    benchmark = make_committed.published()
    make_committed.benchmark(name="Another")
    owner = benchmark.memberships.get().user
    _, secret = create_token(owner, name="scripts", scopes=["read", "submit", "manage"], days=30)
    site = RunningSite(tmp_path, committed_db)
    try:
        site.start("web")
        site.wait_for_web(120)
        yield [site.url, secret, benchmark.key]
    finally:
        site.stop_all()


def check(printed, key):
    """What the scripts print is so, whichever language they are in."""
    results = json.loads(printed)
    assert len(results["pages"]["keys"]) == results["pages"]["count"] == 2
    assert key in results["pages"]["keys"]
    assert results["one_ranking"] == {"a": 4, "b": 1, "c": 2, "d": 3}
    assert results["table"] == {"rows": 4, "results": 4, "columns": COLUMNS}
    assert set(results["whole_board"]["rules"]) <= set(RULES)
    assert sorted(results["whole_board"]["systems"]) == ["A", "B", "C", "D"]
    assert (results["pair"], results["weighted"]) == (5, "ranked")
    assert results["dry_run"]["accepted"]
    assert results["dry_run"]["names"] in (["New"], ["Newer"])
    assert results["submitted"].pop("state") in ("approved", "accepted", "published")  # no worker runs here
    assert results["submitted"] == {"is_one": True, "listed": True, "who": True}
    assert results["imported"] == ["Task 1"]
    assert results["hosted"] == {"tags": ["made"], "tasks": ["QA"]}
    assert results["refused"] == [True, True]
    assert results["archive"] == "PK"


@pytest.mark.slow  # downloads a generator, and runs a site
@pytest.mark.services
def test_a_python_client_runs_the_scripts(served, tmp_path):
    uv, python = (sys.executable, "-m", "uv"), tmp_path / "venv" / "bin" / "python"
    run(*uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv", folder=tmp_path)
    run(*uv, "pip", "install", "--quiet", "--python", python, "openapi-python-client>=0.29,<0.30", folder=tmp_path)
    (tmp_path / "settings.yml").write_text(SETTINGS)
    with urllib.request.urlopen(f"{served[0]}/api/v1/schema/?format=json", timeout=60) as answer:
        (tmp_path / "schema.json").write_bytes(answer.read())
    generate = (python.with_name("openapi-python-client"), "generate", "--path", "schema.json")
    run(*generate, "--config", "settings.yml", "--output-path", "made", folder=tmp_path)
    shutil.copy(HERE / "python_scripts.py", tmp_path / "made")
    check(run(python, "python_scripts.py", *served, folder=tmp_path / "made"), served[2])


@pytest.mark.slow  # downloads a generator and a compiler, and runs a site
@pytest.mark.services
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm on this machine")
def test_a_typescript_client_compiles_under_strict_and_runs_the_scripts(served, tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module", "private": true}')
    packages = ("openapi-typescript@7", "openapi-fetch@0.17", "typescript@5", "@types/node@20")
    run("npm", "install", "--silent", "--no-audit", "--no-fund", *packages, folder=tmp_path)
    run("npx", "openapi-typescript", f"{served[0]}/api/v1/schema/", "--output", "schema.d.ts", folder=tmp_path)
    shutil.copy(HERE / "scripts.ts", tmp_path)
    run("npx", "tsc", *COMPILER.split(), "--target", "es2022", "--lib", "es2022,dom", "scripts.ts", folder=tmp_path)
    check(run("node", "scripts.js", *served, folder=tmp_path), served[2])
