"""What the papers compute, of one's own scores; and what every command promises: formats and exit statuses."""

import csv
import io
import json

import pytest

import plurank
from plurank.command_line import main
from plurank.command_line.papers import PAPERS
from ranking_engine.catalogue.registry import RULES
from tests.plurank.command_line.test_files import run

TABLE = "system,QA,NLI,Sums\nA,90,60,5\nB,80,70,6\nC,70,65,7\nD,60,50,2\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    return path


def test_the_contents_name_every_paper_with_commands_that_the_parser_takes(capsys, table):
    status, out, _ = run(capsys, "papers", "--format", "json")
    assert status == 0
    rows = json.loads(out)["rows"]
    assert {row["paper"] for row in rows} == {"rofin-2023", "zhang-2024", "colombo-2022", "pavao-2021"}
    assert {row["command"].split()[1] for row in rows} == {"papers", "rank", "prospects", "stability"}
    for command in {row["command"] for row in rows if row["command"].split()[1] != "stability"}:
        assert main(command.replace("FILE", str(table)).split()[1:]) == 0, command
    capsys.readouterr()
    text = run(capsys, "papers", "--paper", "pavao-2021")[1]
    assert "Judging competitions" in text
    assert "--study judge_bootstrap" in text
    assert "Rofin" not in text


def test_the_figures_are_those_of_the_board(capsys, table):
    status, out, _ = run(capsys, "papers", table, "--format", "csv")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    board = plurank.read(table)
    for paper in PAPERS:
        own = [row for row in rows if row["paper"] == paper.key]
        winners = {row["rule"]: row["value"] for row in own if row["figure"] == "winners"}
        assert winners == {key: "; ".join(board.rank(key).winners) for key in paper.rules}
        taus = {row["rule"]: float(row["value"]) for row in own if row["figure"] == "tau-b with the mean"}
        compared = board.compare(*paper.rules)
        assert taus == dict(zip(compared["rule"], compared["mean"], strict=True))
    prospects = board.prospects()
    can_win = [name for name, can in zip(prospects["system"], prospects["can_win"], strict=True) if can]
    assert [row["value"] for row in rows if row["figure"] == "can win"] == can_win
    agreement = dict(zip(board.agreement()["measure"], board.agreement()["value"], strict=True))
    (diversity,) = [row for row in rows if (row["paper"], row["figure"]) == ("zhang-2024", "diversity")]
    assert float(diversity["value"]) == agreement["diversity"]


def test_the_experiments_are_the_studies_with_their_own_parameters(capsys, table):
    arguments = ["papers", table, "--paper", "zhang-2024", "--studies", "--seed", "3", "--format", "json"]
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    answer = json.loads(out)
    board = plurank.read(table)
    rows = [row for row in answer["rows"] if row["part"] == "cardinal_sensitivity"]
    study = board.study("cardinal_sensitivity", seed=3)
    assert [(row["figure"], row["value"]) for row in rows] == list(zip(study["figure"], study["value"], strict=True))
    # On so few systems the other study of the paper is of the first two.
    rows = [row for row in answer["rows"] if row["part"] == "ordinal_sensitivity"]
    study = board.study("ordinal_sensitivity", seed=3)
    assert [(row["figure"], row["value"]) for row in rows] == list(zip(study["figure"], study["value"], strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["papers", "--studies"], "--studies needs a FILE"),
        (["papers", "scores.csv", "--seed", "-1"], "--seed is -1; expected 0 or more"),
        (["papers", "none.csv"], "none.csv: No such file"),
    ],
)
def test_what_papers_cannot_do_ends_with_status_2_and_one_line(capsys, table, monkeypatch, arguments, message):
    monkeypatch.chdir(table.parent)
    status, out, error = run(capsys, *arguments)
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert message in error


COMMANDS = {
    "rank": [], "intervals": [], "compare": [], "prospects": ["--draws", "10"], "papers": [],
    "stability": ["--study", "diversity"],
}  # fmt: skip
SIGNS = {"markdown": "| --- |", "latex": "\\begin{tabular}"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_format_of_a_command_is_written_and_any_other_is_refused(capsys, table, command):
    from plurank.command_line import completion, parser

    (declared,) = [one for one in completion.commands_of(parser()) if one.name == command]
    (formats,) = [flag.values for flag in declared.flags if flag.name == "--format"]
    assert {"table", "json", "csv", "markdown"} <= set(formats)
    for name in formats:
        status, out, _ = run(capsys, command, table, *COMMANDS[command], "--format", name)
        assert status == 0
        assert out.endswith("\n")
        if name == "json":
            json.loads(out)
        if name == "csv":
            assert len({len(row) for row in csv.reader(io.StringIO(out))}) == 1
        assert SIGNS.get(name, "") in out
    with pytest.raises(SystemExit) as end:
        main([command, str(table), *COMMANDS[command], "--format", "xml"])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_rule_of_a_paper_is_one_of_the_engine():
    assert all(paper.rules and set(paper.rules) <= set(RULES) and paper.studies for paper in PAPERS)
