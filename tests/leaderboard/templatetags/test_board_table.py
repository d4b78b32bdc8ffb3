"""Rows of the board, written as strings: what they say, and that nothing a user typed gets out of its place."""

from dataclasses import replace

from leaderboard.services.board import Cell, Row
from leaderboard.templatetags.board_table import board_row

CELL = Cell(rank=3, n_tied_with=0, change=None, score_text="", reason="", interval_text="")
ROW = Row(
    id=1,
    key="t5",
    name="T5",
    is_own=False,
    n_scored=8,
    n_voting_tasks=9,
    reference_rank=2,
    least_rank=1,
    median_rank=2.5,
    greatest_rank=4,
    cells=[CELL],
    url="/b/glue/systems/t5/",
)
COLUMN = {"reason": ""}


def test_a_row_names_its_place_its_ranks_over_all_rules_and_the_tasks_it_has_scores_on():
    assert board_row(ROW, [COLUMN], 10) == (
        '<tr><th scope="row"><span class="place">2</span><a href="/b/glue/systems/t5/">T5</a></th>'
        '<td class="range"><svg viewBox="1 0 9 10" preserveAspectRatio="none" aria-hidden="true">'
        '<path d="M1 5H10"/><path class="span" d="M1 5H4"/><path class="median" d="M2.5 0V10"/></svg>'
        '<span>1–4</span><i class="sr">, median 2.5</i></td>'
        '<td class="number">8<small>/9</small></td><td><b>3</b></td></tr>\n'
    )


def cell(**fields) -> str:
    """The markup of one cell."""
    return board_row(replace(ROW, cells=[replace(CELL, **fields)]), [COLUMN], 10).rpartition("</td><td")[2]


def test_a_tie_and_a_change_are_said_in_words_too():
    assert cell(n_tied_with=1, change=-2) == (
        '><b><i>=</i>3</b><i class="sr">, tied, worse by </i><i class="down">2</i></td></tr>\n'
    )


def test_a_first_rank_an_interval_and_a_score():
    assert cell(rank=1, change=4, interval_text="1–6", score_text="743") == (
        '><b><span class="rank is-first">1</span></b><i class="sr">, better by </i><i class="up">4</i>'
        '<i class="sr">, interval </i><em>1–6</em><i class="sr">, score </i><small>743</small></td></tr>\n'
    )


def test_a_reason_is_told_once_where_the_tasks_are_counted_and_one_of_a_whole_column_not_at_all():
    unranked = replace(CELL, rank=None, reason="no score on 1 of 9 tasks: <MNLI>")
    rejected = replace(CELL, rank=None, reason="no system beats every other")
    row = replace(ROW, cells=[unranked, unranked, rejected])
    found = board_row(row, [COLUMN, COLUMN, {"reason": "No system beats every other."}], 10)
    assert found.partition('<td class="number"')[2] == (
        ' title="no score on 1 of 9 tasks: &lt;MNLI&gt;">8<small>/9</small>'
        '<i class="sr">, no score on 1 of 9 tasks: &lt;MNLI&gt;</i></td>'
        '<td class="no">unranked</td><td class="no">unranked</td><td class="no">unranked</td></tr>\n'
    )


def test_a_rarer_reason_stands_at_its_own_cell():
    common, rare = (replace(CELL, rank=None, reason=reason) for reason in ("no score", "another <reason>"))
    found = board_row(replace(ROW, cells=[common, common, rare]), [COLUMN] * 3, 10)
    assert found.endswith(
        '<td class="no">unranked</td><td class="no">unranked</td>'
        '<td class="no" title="another &lt;reason&gt;">unranked: another &lt;reason&gt;</td></tr>\n'
    )


def test_a_name_cannot_leave_its_place():
    name = '"><script>alert(1)</script> of a length that may be cut off'
    found = board_row(replace(ROW, name=name, url="/b/x/?a=1&b=2", is_own=True), [COLUMN], 10)
    escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; of a length that may be cut off"
    assert found.startswith(
        '<tr class="is-own"><th scope="row"><span class="place">2</span>'
        f'<a href="/b/x/?a=1&amp;b=2" title="{escaped}">{escaped}</a> <span class="badge">yours</span></th>'
    )
    assert "<script" not in found


def test_a_system_that_no_rule_ranks_and_a_board_of_one():
    nowhere = replace(ROW, reference_rank=None, least_rank=None, median_rank=None, greatest_rank=None, cells=[])
    assert '<span class="place">–</span>' in board_row(nowhere, [], 10)
    assert '<span class="unranked">–</span><i class="sr">not ranked by any rule</i>' in board_row(nowhere, [], 10)
    alone = replace(ROW, least_rank=1, median_rank=1, greatest_rank=1)
    assert '<td class="range"><span>1</span><i class="sr">, median 1</i></td>' in board_row(alone, [COLUMN], 1)
