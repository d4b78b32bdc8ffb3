"""The client against a running site: real processes, real requests."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import plurank
from leaderboard.accounts.tokens import create_token
from leaderboard.models import Batch, Revision
from plurank.client import InvalidInputError, NotAllowedError, NotThereError, TooManyError
from plurank.client.uploads import systems_of
from tests.leaderboard.votes.sent import collecting, vote_lines

pytestmark = pytest.mark.services
ROOT = Path(__file__).resolve().parents[3]
SCORES = {"One": [90.0, 60.0], "Two": [80.0, 70.0], "Three": [70.0, 50.0]}


def test_a_score_that_is_no_number_is_sent_as_missing_and_an_infinite_one_is_named():
    scores = {"QA": math.nan, "Sums": 1.0}
    sent = [{"name": "A", "scores": {"QA": None, "Sums": 1.0}}]
    board = plurank.Board({"A": scores})
    assert [systems_of(given) for given in (board, {"A": scores}, [{"name": "A", "scores": scores}])] == [sent] * 3
    with pytest.raises(ValueError, match="the score of A on QA is -inf; expected a number"):
        systems_of({"A": {"QA": -math.inf}})


@pytest.fixture
def board(make_committed):
    return make_committed.published(SCORES)


@pytest.fixture
def running(site, board):
    site.start("web", "rankings")
    site.wait_for_web()
    return site


@pytest.fixture
def remote(running, board):
    secret = create_token(board.memberships.get().user, name="client", scopes=["read", "submit", "manage"], days=30)[1]
    return plurank.Site(running.url, secret).benchmark(board.key)


def test_a_board_is_read_ranked_pulled_and_submitted_to(running, board, remote, tmp_path):
    anonymous = plurank.Site(running.url, "")
    assert board.key in anonymous.benchmarks()["key"]
    assert "borda" in anonymous.rules()["key"]
    assert remote.details["key"] == board.key
    assert remote.tasks()["name"] == ["Task 1", "Task 2"]
    # The site's ranking is the one that this machine computes from its scores.
    ours = remote.board().rank("Borda")
    theirs = anonymous.benchmark(board.key).ranking("Borda")
    assert dict(zip(theirs["system"], theirs["rank"], strict=True)) == ours.ranks
    assert theirs.to_frame().loc["One", "rank"] == 1
    assert remote.export("rankings/borda").startswith("system,")
    assert remote.export("rankings/borda", "latex") == remote.export("rankings/borda", "tex")
    assert "task_subsets" in remote.studies()["study"]
    assert remote.prospects(conditions=["Task 1 >= 0.9"])["name"]
    # What is pulled is read as the same board, and nothing is written over.
    assert [path.name for path in remote.pull(tmp_path / "pulled")] == ["scores.csv", "benchmark.toml"]
    assert plurank.read(tmp_path / "pulled" / "scores.csv").rank("borda").ranks == ours.ranks
    with pytest.raises(FileExistsError, match=r"scores\.csv is there already"):
        remote.pull(tmp_path / "pulled")
    # A preview stores nothing; a submission is published, and once however often it is sent.
    new = {"Four": {"Task 1": 99, "Task 2": 99}}
    preview = remote.preview(new)
    assert ("borda", "One", 1, 2) in {tuple(row.values()) for row in preview}
    assert Batch.objects.count() == 1
    submission = remote.submit(new, note="a test", key="run-1")
    again = remote.submit(new, note="a test", key="run-1")
    assert submission.uuid == again.uuid
    assert submission.wait(60).state == "published"
    assert remote.ranking("borda")["system"][0] == "Four"
    assert Revision.objects.filter(benchmark=board).count() == 2


def test_what_a_site_refuses_is_an_exception_with_places(running, board, remote):
    with pytest.raises(InvalidInputError) as refusal:
        remote.submit({"Four": {"Task 1": "high", "Task 2": 1}})
    assert refusal.value.status == 400
    assert {detail["place"] for detail in refusal.value.details} >= {"systems[0].scores.Task 1"}
    assert "Task 1" in str(refusal.value)
    assert Batch.objects.count() == 1
    with pytest.raises(NotThereError):
        remote.transport.get("benchmarks/no-such-board/")
    with pytest.raises(NotAllowedError):
        plurank.Site(running.url, "").benchmark(board.key).submit({"Four": {"Task 1": 1}})
    with pytest.raises(ValueError, match="did you mean 'Borda'"):
        remote.ranking("Bordaa")


def test_pages_are_followed_and_the_limit_of_requests_is_an_exception_with_its_time(site, board):
    site.environment["PLURANK_API_TOKEN_RATE"] = "4/min"
    site.start("web")
    site.wait_for_web()
    secret = create_token(board.memberships.get().user, name="client", scopes=["read"], days=30)[1]
    remote = plurank.Site(site.url, secret, retries=0).benchmark(board.key)
    tasks = remote.transport.listed(f"{remote.path}tasks/", page_size=1)
    assert [task["name"] for task in tasks] == ["Task 1", "Task 2"]
    with pytest.raises(TooManyError) as refusal:  # noqa: PT012 -- which of the next requests is one too many
        for _ in range(4):
            remote.transport.get(remote.path)
    assert (refusal.value.status, 1 <= refusal.value.retry_after <= 60) == (429, True)


def test_result_files_are_imported_and_a_benchmark_is_created_and_managed(running, board, remote, tmp_path):
    path = tmp_path / "results.json"
    results = {"Task 1": {"acc,none": 95.0, "alias": "Task 1"}, "Task 2": {"acc,none": 95.0, "alias": "Task 2"}}
    path.write_text(json.dumps({"results": results, "model_name": "lab/five", "config": {}}))
    preview = remote.import_files(path, dry_run=True)
    assert [column["task"] for column in preview["columns"]] == ["Task 1", "Task 2"]
    folder = tmp_path / "runs" / "lab__six"
    folder.mkdir(parents=True)
    line = {"doc_id": 0, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": 96.0}
    (folder / "samples_Task 1.jsonl").write_text(json.dumps(line))
    in_folder = remote.import_files(tmp_path / "runs", dry_run=True)
    assert [system["name_in_files"] for system in in_folder["systems"]] == ["lab/six"]
    table = tmp_path / "board.csv"
    table.write_text("Rank,Team,Quiz\n1,Seven,97\n")
    mapping = {"columns": {"Rank": "ignored", "Team": "system", "Quiz": "score"}, "tasks": {"Quiz": "Task 2"}}
    assert remote.import_files(table, mapping=mapping, kept=True).wait(60).state == "published"
    again = remote.import_files(table, dry_run=True, kept=True)
    assert [column["assigned"] for column in again["columns"]] == ["Task 2"]
    assert remote.import_files(path, note="an import").wait(60).state == "published"
    assert remote.ranking("mean")["system"][0] == "lab/five"
    site = plurank.Site(running.url, remote.transport._token)
    made = site.create_benchmark(name="Made", key="made", tasks=[{"name": "X"}, {"name": "Y", "direction": -1}])
    assert made.tasks()["direction"] == [1, -1]
    made.update("tasks", tasks=[{"key": "x", "weight": "2"}], reason="It counts twice.")
    assert made.tasks()["weight"][0] in ("2", 2, 2.0)
    assert made.submit(plurank.Board({"A": {"X": 1, "Y": 2}, "B": {"X": 2}})).wait(60).state == "published"
    assert made.board().rank("plurality").winners


def test_the_command_submits_pulls_and_exports(running, board, remote, tmp_path):
    url = f"{running.url}/b/{board.key}/"
    environment = {**os.environ, "PLURANK_TOKEN": remote.transport._token}

    def plurank_of(*arguments):
        command = [sys.executable, "-m", "plurank", *arguments]
        return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)

    scores = tmp_path / "scores.csv"
    scores.write_text("system,Task 1,Task 2\nFour,99,99\n")
    dry = plurank_of("submit", str(scores), "--board", url, "--dry-run", "--format", "csv")
    assert (dry.returncode, "borda,One,1,2" in dry.stdout, Batch.objects.count()) == (0, True, 1)
    for _ in range(2):
        answer = plurank_of("submit", str(scores), "--board", url, "--key", "run-1", "--format", "markdown")
        assert answer.returncode == 0, answer.stderr
        assert "| borda | 1 |" in answer.stdout
    assert Batch.objects.count() == 2
    assert plurank_of("pull", "--board", url, str(tmp_path / "pulled")).returncode == 0
    ranked = plurank_of("rank", str(tmp_path / "pulled" / "scores.csv"), "--rule", "borda", "--format", "csv")
    assert ranked.stdout.splitlines()[1].startswith("Four,1,")
    assert plurank_of("export", "--board", url, "rankings/borda").stdout.splitlines()[1].split(",")[1] == "Four"
    exported = {
        name: plurank_of("export", "--board", url, "rankings/borda", "--format", name).stdout
        for name in ("csv", "latex", "tex", "markdown", "json")
    }
    assert exported["latex"] == exported["tex"] != ""
    assert [exported[name][:1] for name in ("csv", "latex", "json")] == ["s", "%", "{"]
    assert "\n| " in exported["markdown"]
    scores.write_text("system,Task 1\nFive,high\n")
    refused = plurank_of("submit", str(scores), "--board", url)
    assert (refused.returncode, Batch.objects.count()) == (3, 2)
    assert "scores.csv: 1 column may have scores or not: 'Task 1'" in refused.stderr
    assert plurank_of("export", "--board", f"{running.url}/b/none/").returncode == 3
    assert plurank_of("export", "--board", "elsewhere").returncode == 2


def test_nobody_waits_for_a_submission_that_was_withdrawn(running, board, remote, tmp_path):
    scores = tmp_path / "scores.csv"
    scores.write_text("system,Task 1,Task 2\nFour,99,99\n")
    submission = remote.import_files(scores, key="run-1").wait(60)
    remote.transport.send(f"submissions/{submission.uuid}/withdraw/", {"reason": "A wrong checkpoint."})
    assert submission.wait(0).state == "withdrawn"
    command = [sys.executable, "-m", "plurank", "submit", str(scores), "--key", "run-1", "--wait", "1"]
    environment = {**os.environ, "PLURANK_TOKEN": remote.transport._token}
    answer = subprocess.run(
        [*command, "--board", f"{running.url}/b/{board.key}/"],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 4
    assert f"error: submission {submission.uuid} is withdrawn: " in answer.stderr
    assert answer.stderr.endswith("A wrong checkpoint.\n")


def test_votes_are_sent_and_their_ratings_read(running, make_committed, tmp_path):
    benchmark = collecting(make_committed, name="Votes for the client")
    owner = benchmark.memberships.get().user
    secret = create_token(owner, name="votes", scopes=["read", "submit"], days=30)[1]
    remote = plurank.Site(running.url, secret).benchmark(benchmark.key)
    running.start("studies")
    (tmp_path / "battles.csv").write_text(vote_lines(120))
    assert remote.send_votes(tmp_path / "battles.csv", dry_run=True)["n_votes"] == 120
    first, second = (remote.send_votes(tmp_path / "battles.csv", key="week-48") for _ in range(2))
    assert (first["state"], first["batch"] == second["batch"]) == ("accepted", True)
    running.wait_until(remote.votes, 30, "the votes are rated")
    ours = plurank.read_votes(tmp_path / "battles.csv").rate()
    assert [row["system"] for row in remote.votes()["systems"]] == list(ours["system"])
    (tmp_path / "bad.csv").write_text("model_a,model_b,winner\nAsh,Ash,a\n")
    with pytest.raises(InvalidInputError, match="itself"):
        remote.send_votes(tmp_path / "bad.csv")
