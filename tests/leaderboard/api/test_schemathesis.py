"""Schemathesis against the running site: no server error, and no answer outside the schema.

`make schemathesis` runs the long variant; the short one belongs to the ordinary tests.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.accounts.tokens import create_token
from tests.running_site import RunningSite

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
NO_LIMIT = {f"PLURANK_API_{kind}_RATE": "1000000/min" for kind in ("ADDRESS", "USER", "TOKEN", "WRITE", "ON_DEMAND")}
SHORT = ["--phases", "fuzzing", "--max-examples", "1", "--max-time", "15"]
LONG = ["--phases", "examples,coverage,fuzzing", "--max-examples", "40", "--max-time", "900"]


@pytest.mark.services
@pytest.mark.parametrize("extent", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"])
def test_no_request_that_the_schema_allows_is_answered_outside_it(make_committed, committed_db, tmp_path, extent):
    benchmark = make_committed.published()
    _, secret = create_token(
        benchmark.memberships.get().user, name="fuzz", scopes=["read", "submit", "manage"], days=30
    )
    site = RunningSite(tmp_path, committed_db, is_forked=True, **NO_LIMIT)
    try:
        site.start("web")
        site.wait_for_web(120)
        (tmp_path / "schemathesis.toml").write_text(f'[parameters]\nkey = "{benchmark.key}"\nrule = "borda"\n')
        command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", "schemathesis.toml", "run"]
        command += [f"{site.url}/api/v1/schema/", "--header", f"Authorization: Token {secret}", "--checks", CHECKS]
        command += ["--seed", "1", "--generation-database", "none", "--warnings", "off", "--no-color", *extent]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=1200)
        assert done.returncode == 0, f"{done.stdout[-20000:]}\n{done.stderr[-2000:]}\n{site.logs()}"
    finally:
        site.stop_all()
