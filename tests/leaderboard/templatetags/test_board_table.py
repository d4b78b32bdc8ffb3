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
        '<span>1–4</span><span class="sr">, median 2.5</span></td>'
        '<td class="number">8<small>/9</small></td><td><b>3</b></td></tr>\n'
    )


def cell(**fields) -> str:
    """The markup of one cell."""
    row = replace(ROW, cells=[replace(CELL, **fields)])
    return board_row(row, [COLUMN | {"reason": fields.pop("column_reason", "")}], 10).rpartition("</td><td")[2]


def test_a_tie_and_a_change_are_said_in_words_too():
    assert cell(n_tied_with=1, change=-2) == (
        '><b><i>=</i>3</b><span class="sr">, tied with 1 other, worse by </span><span class="down">2</span></td></tr>\n'
    )


def test_a_first_rank_an_interval_and_a_score():
    assert cell(rank=1, change=4, interval_text="1–6", score_text="743") == (
        '><b><span class="rank is-first">1</span></b><span class="sr">, better by </span><span class="up">4</span>'
        '<span class="sr">, interval </span><em>1–6</em><span class="sr">, score </span><small>743</small></td></tr>\n'
    )


def test_an_unranked_system_has_its_reason_and_one_of_the_whole_column_is_not_repeated():
    reason = "no score on <MNLI>"
    assert cell(rank=None, reason=reason) == (
        ' title="no score on &lt;MNLI&gt;"><b class="no">–</b>'
        '<span class="sr">unranked: no score on &lt;MNLI&gt;</span></td></tr>\n'
    )
    row = replace(ROW, cells=[replace(CELL, rank=None, reason="no system beats every other")])
    assert board_row(row, [{"reason": "No system beats every other."}], 10).endswith(
        '<td><b class="no">–</b><span class="sr">unranked</span></td></tr>\n'
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
    assert '<span class="unranked">–</span><span class="sr">not ranked by any rule</span>' in board_row(nowhere, [], 10)
    alone = replace(ROW, least_rank=1, median_rank=1, greatest_rank=1)
    assert '<td class="range"><span>1</span><span class="sr">, median 1</span></td>' in board_row(alone, [COLUMN], 1)
