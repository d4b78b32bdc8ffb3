"""One layout in every format, and what every command says in each of them."""

import pytest

from ranking_engine.command_line import main
from ranking_engine.command_line.formats import FORMATS, Layout, TitledGrid, best_first

LAYOUT = Layout(
    rows=lambda report: [["system", "rank"], *report["ranks"].items()],
    blocks=lambda report: [
        TitledGrid([["system", "rank"], ["a_1", "1"]], title="Ranks of a_1"),
        "Two lines,\nabout a_1.",
        TitledGrid([["system", "wins"], ["a_1", "3"]], caption="Wins of a_1"),
    ],
    heading=lambda report: "All of a_1",
    notes=lambda report: ["a_1 is first", "B is\tnot ranked"],
)
TABULAR = (
    "\\begin{{tabular}}{{lr}}\n\\toprule\nsystem & {} \\\\\n\\midrule\n"
    "a\\_1 & {} \\\\\n\\bottomrule\n\\end{{tabular}}\n"
)
WRITTEN = {
    "json": '{\n  "ranks": {\n    "a_1": 1,\n    "B": null\n  }\n}\n',
    "csv": "system,rank\na_1,1\nB,\n",
    "table": (
        "All of a_1\n\nRanks of a_1\n\nsystem  rank\na_1        1\n\nTwo lines,\nabout a_1.\n\n"
        "Wins of a_1\nsystem  wins\na_1        3\n\na_1 is first\nB is\tnot ranked\n"
    ),
    "markdown": (
        "All of a\\_1\n\n### Ranks of a\\_1\n\n| system | rank |\n| --- | ---: |\n| a\\_1 | 1 |\n\n"
        "Two lines,\nabout a\\_1.\n\nWins of a\\_1:\n\n| system | wins |\n| --- | ---: |\n| a\\_1 | 3 |\n\n"
        "- a\\_1 is first\n- B is\tnot ranked\n"
    ),
    "latex": (
        "% All of a_1\n% a_1 is first\n% B is not ranked\n% Ranks of a_1\n"
        f"{TABULAR.format('rank', 1)}\n% Two lines,\n% about a_1.\n% Wins of a_1\n{TABULAR.format('wins', 3)}"
    ),
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_is_written_in_every_format(form):
    assert LAYOUT.written({"ranks": {"a_1": 1, "B": None}}, form) == WRITTEN[form]


def test_a_report_of_one_table_is_that_table():
    layout = Layout(rows=lambda grid: grid, blocks=lambda grid: [TitledGrid(grid)])
    assert layout.written([["system", "rank"], ["A", "1"]], "table") == "system  rank\nA          1\n"


def test_systems_without_a_rank_are_last():
    assert best_first({"d": None, "c": 1, "b": 2, "a": 2}) == ["c", "a", "b", "d"]


@pytest.fixture
def files(tmp_path):
    texts = {
        "scores.csv": "system,"
        + ",".join(f"t{k}" for k in range(9))
        + "\nm_1"
        + ",3" * 9
        + "\nB"
        + ",2" * 9
        + "\nC"
        + ",1" * 9
        + "\n",
        "votes.csv": "a,b,winner\nm_1,B,A\nB,m_1,A\nC,D,tie\n",
        "instances.csv": "system,instance,a\n" + "".join(f"{s},{u},{u % 2}\n" for s in ("m_1", "B") for u in range(12)),
        "references.csv": "id,reference\n1,x\n2,y\n",
        "predictions.csv": "id,prediction\n1,x\n2,x\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


COMMANDS = {  # with a piece of every text that it writes beside its tables
    "rank scores.csv": ["Condorcet winner: ", "Missing scores: "],
    "intervals scores.csv --simultaneous --resamples 20": ["drawn again with replacement", "Possibly best: "],
    "compare scores.csv": ["Spearman's correlation", "Kendall's W", "Missing scores: "],
    "prospects scores.csv --draws 10": ["Rule: ", "Shares: 10 draws"],
    "stability scores.csv --study missing_scores --rule borda --param n_repeats=2": ["Missing scores: ", "Seed: 0"],
    "votes votes.csv --elo 2": ["4 systems", "Note: the votes connect 2 groups", "How few votes", "Elo with K = 30"],
    "score --metric accuracy --references references.csv --predictions predictions.csv": ["Computed by ", "fewer than"],
    "metrics": [],
    "instances instances.csv": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_format_for_people_has_every_text_and_every_table(files, capsys, monkeypatch, command):
    monkeypatch.chdir(files)
    texts = {}
    for form in ("table", "markdown", "latex"):
        assert main([*command.split(), "--format", form]) == 0
        texts[form] = capsys.readouterr().out
        assert [text for text in COMMANDS[command] if text not in texts[form]] == []
        if "m_1" in texts["table"]:
            assert ("m_1" if form == "table" else "m\\_1") in texts[form]
    assert texts["latex"].count("\\toprule") == texts["markdown"].count("| --- |") > 0
    assert [line for line in texts["markdown"].splitlines() if "m_1" in line] == []  # each name is escaped
