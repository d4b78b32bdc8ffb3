"""Files of a view of the board: what they say is read back, and no name in them is taken for mark-up."""

import csv
import io
import json
import re

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.exports import FORMATS
from leaderboard.boards.query import BoardQuery
from leaderboard.common.files import ColumnHead, ExportTable, export_latex, export_markdown, latex_text, markdown_text
from ranking_engine.files.grids import rows_of_text

NASTY = r"A|B & 50% of $x_1$ #2 {~^\} <b>*\`[!]"
VIEW = {"reference": "copeland", "sort": "-mean", "rules": ("mean", "plurality"), "pins": ("d",), "scores": True}


def written(benchmark, extension: str, **query) -> str:
    owner = benchmark.memberships.get(role="owner").user
    board = build_board(audience_of(owner, benchmark), BoardQuery(**query), is_whole=True)
    return "".join(FORMATS[extension][1](board, benchmark.name))


def body(text: str, start: str) -> list[list[str]]:
    """The cells of a table's lines after the one that starts with `start`."""
    lines = text.splitlines()
    after = lines[next(k for k, line in enumerate(lines) if line.startswith(start)) + 1 :]
    return [[cell.strip() for cell in line.strip("|\\ ").split("|" if "|" in line else " & ")] for line in after]


@pytest.mark.parametrize("n", [3, 130])
def test_a_file_has_the_rows_of_all_pages_in_the_views_order(make, n):
    benchmark = make.published({f"S{i:03}": [float(i)] for i in range(n)})
    expected = [f"S{i:03}" for i in range(n)]
    read = {
        "csv": lambda text: [row["system"] for row in csv.DictReader(io.StringIO(text))],
        "json": lambda text: [system["name"] for system in json.loads(text)["systems"]],
        "tex": lambda text: re.findall(r"^(S\d+) &", text, re.MULTILINE),
        "md": lambda text: re.findall(r"^\| (S\d+) \|", text, re.MULTILINE),
    }
    assert read.keys() == FORMATS.keys()
    for extension, names in read.items():
        assert names(written(benchmark, extension, sort="-borda")) == expected


def test_every_file_has_the_columns_order_changes_and_scores_of_the_view(make):
    """By hand from the toy: means 2.2, 2.8, 2.6, 2.4 (A to D); Copeland B C D A; plurality A first, the others tied."""
    benchmark = make.published()
    markdown = written(benchmark, "md", **VIEW)
    assert markdown.splitlines()[2] == "| System | All rules | Tasks | Mean | Plurality | Copeland |"
    rows = body(markdown, "|---")
    assert [row[0] for row in rows] == ["D", "A", "C", "B"]
    assert [row[2:] for row in rows] == [
        ["5/5", "3 (2.4)", "=2 ↑1 (1)", "3 (−1)"],
        ["5/5", "4 (2.2)", "**1** ↑3 (2)", "4 (−3)"],
        ["5/5", "2 (2.6)", "=2 (1)", "2 (1)"],
        ["5/5", "**1** (2.8)", "=2 ↓1 (1)", "**1** (3)"],
    ]
    latex = written(benchmark, "tex", **VIEW)
    assert [line.split(" & ")[0] for line in latex.splitlines()[6:10]] == ["D", "A", "C", "B"]
    assert r"\textbf{1} {\scriptsize$\uparrow$3} (2) & 4 ($-$3) \\" in latex
    once = (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrrrrr}")
    assert [latex.count(rule) for rule in once] == [1] * 4
    content = json.loads(written(benchmark, "json", **VIEW))
    assert ([rule["key"] for rule in content["rules"]], content["reference"], content["condorcet_winner"]) == (
        ["mean", "plurality", "copeland"], "copeland", "B",
    )  # fmt: skip
    first = content["systems"][0]
    assert (first["name"], first["ranks"], first["changes"], first["scores"]["copeland"]) == (
        "D", {"mean": 3, "plurality": 2, "copeland": 3}, {"mean": 0, "plurality": 1, "copeland": None}, -1.0,
    )  # fmt: skip
    heads = written(benchmark, "csv", **VIEW).splitlines()[0]
    assert heads == "system,mean_rank,plurality_rank,copeland_rank,mean_score,plurality_score,copeland_score"


def test_no_name_ends_a_cell_or_is_taken_for_mark_up(make):
    benchmark = make.published({NASTY: [1.0], "Plain": [2.0]})
    lines = written(benchmark, "tex").splitlines()
    line = next(line for line in lines if line.startswith("A"))
    unescaped = re.findall(r"(?<!\\)[#%_]", line.replace(r"\\", ""))
    assert (unescaped, len(re.findall(r"(?<!\\)&", line))) == ([], lines[4].count(" & "))
    row = next(line for line in written(benchmark, "md").splitlines() if "50%" in line)
    heads = written(benchmark, "md").splitlines()[2]
    assert len(re.findall(r"(?<!\\)\|", row)) == heads.count("|")
    assert json.loads(written(benchmark, "json"))["systems"][1]["name"] == NASTY
    assert list(csv.reader(io.StringIO(written(benchmark, "csv"))))[2][0] == NASTY


@pytest.mark.parametrize(
    ("text", "latex", "markdown"),
    [("[2in]*", r"{[}2in]{*}", r"\[2in\]\*"),
     ("a_b", r"a\_b", r"a\_b"), ("\\", r"\textbackslash{}", r"\\"), ("50%|", r"50\%\textbar{}", r"50%\|"),
     ("é", "é", "é")],
)  # fmt: skip
def test_a_text_is_escaped_character_by_character(text, latex, markdown):
    assert (latex_text(text), markdown_text(text)) == (latex, markdown)


@pytest.mark.parametrize(("export", "kind"), [(export_latex, "LaTeX"), (export_markdown, "Markdown")])
def test_names_in_a_table_for_people_are_read_back_as_they_are(export, kind):
    names = [
        NASTY, 'O\'Brien "quoted"', r"a/b\c", "<script>", "#hash?x=1", "**bold** __x__ `y`", "[text](url)",
        r"\textbf{a}", r"\|", "a--b---c", "–-–", "—", "−1", "-x", "{a}", "x\\", "~", "$-$",
        r"\\", r"\textless{}", "|", "50%", "&amp;",
    ]  # fmt: skip
    headings = [ColumnHead("system", "system", is_text=True), ColumnHead("t", NASTY)]
    text = "".join(export(ExportTable("scores", "Scores of A_1", headings, [[name, -0.5] for name in names])))
    header, *rows = [row for _, row in rows_of_text(text)[1]]
    assert (rows_of_text(text)[0], header) == (kind, ["system", NASTY])
    assert rows == [[name, "−0.5"] for name in names]
