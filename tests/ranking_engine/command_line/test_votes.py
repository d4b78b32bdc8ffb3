"""The command `votes`: what it prints, writes and refuses."""

import csv
import io
import json

import pytest

from ranking_engine.command_line import main
from ranking_engine.votes.ratings import rate
from ranking_engine.votes.reading import read_votes

HEADER = "model_a,model_b,winner,language,judge,length_a,length_b\n"
ROWS = [
    "gpt,llama,model_a,en,u1,10,20", "gpt,llama,model_b,en,u2,30,20", "gpt,claude,tie,de,u3,5,5",
    "claude,llama,model_a,de,u1,9,3", "llama,claude,tie (bothbad),en,u4,4,8", "gpt,claude,model_a,en,u4,7,7",
    "claude,gpt,model_a,de,u2,1,2", "llama,claude,model_a,de,u2,6,6", "llama,gpt,model_b,de,u2,3,4",
]  # fmt: skip


@pytest.fixture
def battles(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text(HEADER + "\n".join(ROWS) + "\n", encoding="utf-8")
    return path


def run(capsys, *arguments):
    status = main(["votes", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_everything_is_in_the_report(capsys, battles):
    status, out, err = run(
        capsys, battles, "--model", "davidson", "--covariate", "length", "--elo", 3, "--format", "json"
    )  # fmt: skip
    assert (status, err) == (0, "")
    report = json.loads(out)
    ratings = rate(read_votes(battles, covariates=["length"]), "davidson")
    by_name = {row["system"]: row for row in report["systems"]}
    assert list(by_name) == [ratings.system_names[i] for i in ratings.order]
    for i, name in enumerate(ratings.system_names):
        row = by_name[name]
        assert (row["points"], row["rank"]) == (ratings.points[i], ratings.ranks[i])
        assert (row["rank_lower"], row["n_votes"]) == (ratings.intervals.rank_lower[i], ratings.n_votes[i])
    assert report["tie_parameter"] == {"name": "nu", "value": ratings.tie}
    assert (report["n_votes"], report["n_ties"], report["n_both_bad"], report["n_groups"]) == (9, 1, 1, 1)
    assert [part["coefficient"] for part in report["coefficients"]] == [ratings.coefficients[0].value]
    assert (report["first_place"]["leader"], report["first_place"]["n_votes"]) == ("gpt", 1)
    assert [part["category"] for part in report["categories"]["categories"]] == ["de", "en"]
    assert report["elo"]["n_orders"] == 3
    assert {row["system"] for row in report["elo"]["systems"]} == {"claude", "gpt", "llama"}


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_every_format_has_every_system(capsys, battles, form):
    status, out, _ = run(capsys, battles, "--covariate", "length", "--elo", 2, "--format", form)
    assert status == 0
    assert all(name in out for name in ("claude", "gpt", "llama"))
    if form == "table":
        assert "Without 1 vote (11 % of all), claude ties with gpt or overtakes it. Fewer votes are not enough." in out
        assert "It depends on the order of the votes" in out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["rank"] for row in rows] == ["1", "2", "3"]


def test_categories_become_the_tasks_of_a_table(capsys, battles, tmp_path):
    path = tmp_path / "scores.csv"
    assert run(capsys, battles, "--scores", path)[0] == 0
    assert path.read_text(encoding="utf-8").splitlines()[0] == "system,de,en"
    assert main(["rank", str(path), "--rule", "borda", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"]


def test_what_votes_do_not_connect_is_said(capsys, tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("a,b,winner\nA,B,A\nB,A,B\nC,D,tie\n", encoding="utf-8")
    _, out, _ = run(capsys, path)
    assert "Note: the votes connect 2 groups of systems, not one: A, B; C, D." in out
    assert "How few votes decide the first place is not known" in out


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,b,winner\nA,B,maybe\n", (), "line 2, column 'winner': 'maybe' is no outcome"),
        ("a,b,winner\nA,B,A\n", ("--cluster", "voter"), "the votes do not say the voter"),
        ("a,b,winner\nA,B,A\n", ("--level", "2"), "`level` is 2.0"),
        ("a,b,winner\nA,B,A\n", ("--elo", "1000"), "`n_orders` is 1000"),
    ],
)
def test_bad_input_is_said_on_one_line(capsys, tmp_path, text, arguments, message):
    path = tmp_path / "battles.csv"
    path.write_text(text, encoding="utf-8")
    status, out, err = run(capsys, path, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
