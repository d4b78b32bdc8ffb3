"""What docs/calibration.md and docs/studies.md say of intervals and tests is true of the tables beside it."""

from __future__ import annotations

import re

from performance.calibration.__main__ import PAGE

STUDIES = PAGE.with_name("studies.md")


def rows_of(heading: str) -> dict[str, dict[str, list[float]]]:
    """Return the table below a heading: rows by name, and in each the figures by column."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    header, _, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    return {
        line[0]: {
            column: [float(figure) for figure in cell.split(" / ") if figure != "-"]
            for column, cell in zip(header[1:], line[1:], strict=True)
        }
        for line in lines
    }


def ends_of(rows: dict[str, dict[str, list[float]]], columns: list[str], *, undeclared: bool) -> str:
    """Return the least and the greatest figure, in percent, of rows with or without undeclared families."""
    figures = [
        figure
        for name, row in rows.items()
        if ("undeclared" in name) == undeclared
        for column in columns
        for figure in row[column]
    ]
    return f"{100 * min(figures):.1f} to {100 * max(figures):.1f} %"


def words_of(path) -> str:
    return re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))


def test_the_coverage_that_studies_state_is_that_of_the_table_with_its_conditions():
    rows, text = rows_of("Rank intervals, each by itself"), words_of(STUDIES)
    every, first = ["mean", "Borda", "Copeland"], ["of the system shown first"]
    of_every, of_first = (ends_of(rows, columns, undeclared=False) for columns in (every, first))
    assert (
        f"contain the true rank in {of_every} of cases, and that of the system shown first does in {of_first}" in text
    )
    assert "10 x 8, noise twice as large" in {
        name for name, row in rows.items() if f"{100 * min(row[first[0]]):.1f}" == of_first.partition(" ")[0]
    }
    of_every, of_first = (ends_of(rows, columns, undeclared=True) for columns in (every, first))
    assert f"it is {of_every}, and for the system shown first {of_first}" in text
    assert "95 of 100 such intervals contain" not in text


def test_what_is_said_of_all_intervals_at_once_includes_undeclared_families():
    rows = rows_of("Rank intervals of all systems at once, and the possibly best")
    columns = ["all hold", "the best is possibly best"]
    (declared, best), (undeclared, undeclared_best) = (
        [ends_of(rows, [column], undeclared=is_undeclared) for column in columns] for is_undeclared in (False, True)
    )
    at_least, best_at_least = (text.partition(" ")[0] for text in (declared, best))
    page, studies = words_of(PAGE), words_of(STUDIES)
    assert f"all intervals contain the true ranks on {at_least} % of these boards or more" in page
    assert f"the best system is possibly best on {best_at_least} % or more" in page
    assert f"With undeclared families it is {undeclared} and {undeclared_best}, least on 10 x 9" in page
    assert f"on {at_least} % of the boards or more, but on {undeclared} if dependent tasks are not declared" in studies
    assert f"on {best_at_least} % of the simulated boards or more, and on {undeclared_best} if dependent" in studies


def test_what_is_said_of_neighbours_includes_undeclared_families():
    rows, page = rows_of("Tests where all systems are equally good"), words_of(PAGE)
    declared = [name for name in rows if "undeclared" not in name]
    assert [rows[name]["neighbours"] for name in declared] == [[0, 0]] * 9
    assert list(rows)[:9] == declared
    broken = [row for name, row in rows.items() if name not in declared]
    most = max(figure for row in broken for figure in row["neighbours"])
    others = max(figure for row in broken for column in list(row)[2:] for figure in row[column])
    assert f"on none in the first nine rows, and with undeclared families on up to {100 * most:.0f} %" in page
    assert f"All other tests find differences there on up to {100 * others:.0f} %" in page


def test_what_is_said_of_strengths_and_instances_is_in_their_tables():
    rows, page = rows_of("Strengths of Bradley and Terry"), words_of(PAGE)
    covered = {name: row["± Student's quantile"][0] for name, row in rows.items()}
    undeclared = covered.pop("12 data sets x 3 agreeing metrics, undeclared")
    assert {f"{value:.2f}" for value in covered.values()} <= {"0.95", "0.96"}
    assert f"If they are not declared, it does in {100 * undeclared:.0f} %" in page
    of_instances = {name: row["coverage"][0] for name, row in rows_of("Differences on single instances").items()}
    assert all(0.92 < of_instances[f"30, {kind}"] < 0.95 for kind in ("real numbers", "right or wrong"))
    assert all(of_instances[f"{n}, {kind}"] < 0.92 for n in (6, 10) for kind in ("real numbers", "right or wrong"))
