"""Rows of the board, written as strings: what they say, and that nothing a user typed gets out of its place."""

from dataclasses import replace

import pytest

from leaderboard.boards.rows import Cell, Row
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
    place=2,
    least_rank=1,
    median_rank=2.5,
    greatest_rank=4,
    cells=[CELL],
    url="/b/glue/systems/t5/",
)
COLUMN = {"reason": "", "status": "ranked"}


def test_a_row_names_its_place_its_ranks_over_all_rules_and_the_tasks_it_has_scores_on():
    assert board_row(ROW, [COLUMN], 10) == (
        '<tr><th scope="row"><input type="checkbox" form="view" name="pin" value="t5" aria-label="Pin T5">'
        '<span class="place">2</span><a href="/b/glue/systems/t5/">T5</a></th>'
        '<td class="range"><svg viewBox="1 0 9 12" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="s" d="M1 5H4"/><path class="m" d="M2.5 1V9"/></svg>'
        '<span>1–4</span><i class="sr">, median 2.5</i></td>'
        '<td class="number">8<small>/9</small></td><td>3</td></tr>\n'
    )


def test_the_interval_is_drawn_below_the_range():
    assert '<path class="i" d="M1 10H6"/>' in board_row(replace(ROW, interval=(1, 6)), [COLUMN], 10)


def cell(**fields) -> str:
    """The markup of one cell."""
    return board_row(replace(ROW, cells=[replace(CELL, **fields)]), [COLUMN], 10).rpartition("<td")[2]


@pytest.mark.parametrize(
    ("fields", "markup"),
    [
        ({"n_tied_with": 1, "change": -2, "shade": -3}, " class=d3>=3<i>↓2</i></td></tr>\n"),
        ({"n_tied_with": 2, "joins_above": True, "joins_below": True}, ' class="a b">=3</td></tr>\n'),
        ({"rank": 1, "change": 4, "shade": 4, "is_sole_winner": True}, " class=w>1<i>↑4</i></td></tr>\n"),
        ({"rank": 1, "n_tied_with": 1, "change": 1, "shade": 1}, ' class="j u1"><u>=1</u><i>↑1</i></td></tr>\n'),
        ({"rank": 2, "is_winner": True}, " class=j><u>2</u></td></tr>\n"),
        ({"interval_text": "1–6", "score_text": "743"}, ">3<em>1–6</em><small>743</small></td></tr>\n"),
    ],
)
def test_a_cell_is_its_rank_its_change_and_the_letters_of_its_look(fields, markup):
    assert cell(**fields) == markup


def test_a_reason_opens_where_the_tasks_are_counted_and_one_of_a_whole_column_not_at_all():
    unranked = replace(CELL, rank=None, reason="no score on 1 of 9 tasks: <MNLI>")
    rejected = replace(CELL, rank=None, reason="no system beats every other")
    row = replace(ROW, cells=[unranked, unranked, rejected])
    markup = board_row(row, [COLUMN, COLUMN, COLUMN | {"reason": "No system beats every other."}], 10)
    assert markup.partition('<td class="number"')[2] == (
        "><details><summary>8<small>/9</small></summary><p>Unranked: No score on 1 of 9 tasks: &lt;MNLI&gt;.</p>"
        "</details></td><td class=n>–</td><td class=n>–</td><td class=n>–</td></tr>\n"
    )


def test_that_a_rule_elects_only_is_no_reason_of_a_systems_own():
    elsewhere = replace(CELL, rank=None, reason="does not rank systems other than the winner")
    markup = board_row(replace(ROW, cells=[elsewhere]), [COLUMN | {"status": "winner_only"}], 10)
    assert '<td class="number">8<small>/9</small></td>' in markup


def test_a_rarer_reason_stands_at_its_own_cell():
    common, rare = (replace(CELL, rank=None, reason=reason) for reason in ("no score", "another <reason>"))
    markup = board_row(replace(ROW, cells=[common, common, rare]), [COLUMN] * 3, 10)
    assert markup.endswith(
        "<td class=n>–</td><td class=n>–</td>"
        '<td class=n title="another &lt;reason&gt;">–<i class="sr">unranked: another &lt;reason&gt;</i></td></tr>\n'
    )


def test_a_name_cannot_leave_its_place():
    name = '"><script>alert(1)</script> of a length that may be cut off'
    markup = board_row(replace(ROW, name=name, url="/b/x/?a=1&b=2", is_own=True, is_pinned=True), [COLUMN], 10)
    escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; of a length that may be cut off"
    assert markup.startswith(
        '<tr class="is-own is-pinned"><th scope="row"><input type="checkbox" form="view" name="pin" value="t5" '
        f'aria-label="Pin {escaped}" checked><span class="place">2</span>'
        f'<a href="/b/x/?a=1&amp;b=2" title="{escaped}">{escaped}</a> <span class="badge">yours</span></th>'
    )
    assert "<script" not in markup


def test_a_system_that_no_rule_ranks_and_a_board_of_one():
    nowhere = replace(
        ROW, reference_rank=None, place=None, least_rank=None, median_rank=None, greatest_rank=None, cells=[]
    )
    assert '<span class="place">–</span>' in board_row(nowhere, [], 10)
    assert '<span class="place">=2</span>' in board_row(replace(ROW, is_tied=True), [COLUMN], 10)
    assert '<td class="range">–<i class="sr">not ranked by any rule</i></td>' in board_row(nowhere, [], 10)
    alone = replace(ROW, least_rank=1, median_rank=1, greatest_rank=1)
    assert '<td class="range"><span>1</span><i class="sr">, median 1</i></td>' in board_row(alone, [COLUMN], 1)
