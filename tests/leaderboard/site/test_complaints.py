"""What users of other platforms complained about most, as tests of what must not happen here.

Each test here names the complaint's thread. Others stand where the thing itself is tested: `ANSWERS` says where, for
all forty complaints that were collected.
"""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.listing import listed
from leaderboard.benchmarks.tasks import apply_proposal, present_proposal, preview_proposal
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import Score, System, Task
from leaderboard.rankings.published import published_board
from leaderboard.rankings.scores import current_scores, systems_at
from leaderboard.submissions.lifecycle import reinstate_submission, take_batch, withdraw_submission
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of

JOBS = "jobs"
HERE = "leaderboard/site/test_complaints.py"
# By the number of the complaint: who complained, of what, and the tests that say it does not happen here.
ANSWERS = {
    1: (
        "EvalAI 4390: submitted for a week",
        f"{JOBS}/test_lost_wake_ups.py::test_what_waits_is_published_although_the_broker_forgot_every_wake_up",
    ),
    2: (
        "EvalAI 4621: stuck, and submitting again is stuck too",
        f"{HERE}::test_what_is_stuck_keeps_nobody_from_submitting_again",
    ),
    3: (
        "EvalAI 3942: a stuck run blocks later ones",
        f"{JOBS}/test_kills.py::test_a_board_whose_process_is_killed_again_and_again_is_published_once_that_ends",
    ),
    4: (
        "falcon-challenge 30: silently cancelled after days",
        "leaderboard/submissions/test_overdue.py::test_what_is_overdue_stays_in_the_queue_and_both_sides_see_it",
    ),
    5: (
        "Codabench 1507: cancelling burned the quota",
        "leaderboard/submissions/test_limits.py::test_taking_a_waiting_submission_back_does_not_burn_the_quota",
    ),
    6: (
        "Codabench 2121, 2130, 2143: everything stuck at a deadline",
        f"{JOBS}/test_lost_wake_ups.py::test_without_a_broker_submissions_are_accepted_and_published_once_it_is_back",
    ),
    7: (
        "Codabench 2249: what failed cannot be run again",
        "leaderboard/studies/test_manage_page.py::test_a_study_of_which_a_chunk_failed_is_failed_and_may_run_again",
    ),
    8: ("Codabench 1284: n/a outranks numbers", f"{HERE}::test_a_missing_score_never_outranks_a_number"),
    9: ("Codabench 2321, 2470: the same again", f"{HERE}::test_a_missing_score_never_outranks_a_number"),
    10: (
        "Codabench 2018: deleting an entry removed its user",
        f"{HERE}::test_taking_a_bad_entry_away_brings_the_earlier_one_back",
    ),
    11: (
        "Codabench 1840: another entry is shown than the one that counts",
        "leaderboard/submissions/test_lifecycle.py::test_a_later_acceptance_replaces_the_whole_row_whenever_it_was_sent",
    ),
    12: (
        "Codabench 1736: a changed rule left old rows alone",
        f"{HERE}::test_a_changed_direction_ranks_every_old_row_anew",
    ),
    13: (
        "Codabench 1177, 1182: running again loses parts of a run",
        "leaderboard/studies/test_jobs.py::test_chunks_in_any_order_give_the_same_bits_as_one_process",
    ),
    14: (
        "Codabench 2128: new scoring, old scores",
        "leaderboard/queue/test_publishing.py::test_after_an_engine_upgrade_the_published_board_is_computed_again_at_the_same_number",
    ),
    15: (
        "EvalAI 2361: corrected values kept the old error bars",
        "leaderboard/submissions/test_corrections.py::test_a_correction_of_one_task_keeps_the_single_instances_of_the_others",
    ),
    16: ("av2-api 70: sorted in the wrong direction", f"{HERE}::test_a_changed_direction_ranks_every_old_row_anew"),
    17: ("Grand Challenge 2967: ranks sorted as texts", f"{HERE}::test_the_tenth_does_not_come_before_the_second"),
    18: (
        "HELM 2711: small boards showed the worst first",
        f"{HERE}::test_a_list_names_the_lowest_where_lower_is_better",
    ),
    19: (
        "HELM 4336: neighbours that nothing separates",
        "leaderboard/rankings/confidence/test_significance.py::test_a_system_far_ahead_stands_alone_and_the_others_in_one_run",
    ),
    20: (
        "MTEB 5208: no rank intervals",
        "leaderboard/rankings/confidence/test_significance.py::test_the_pages_say_it_where_the_ranking_is_read",
    ),
    21: (
        "HELM 4332: a fix never reached published boards",
        "leaderboard/queue/test_publishing.py::test_after_an_engine_upgrade_the_published_board_is_computed_again_at_the_same_number",
    ),
    22: (
        "CodeSearchNet 129: leaving the hard task out wins",
        f"{HERE}::test_leaving_a_hard_task_out_does_not_raise_ones_rank",
    ),
    23: (
        "lm-evaluation-harness 980: the wider scale decides",
        f"{HERE}::test_a_task_on_a_wider_scale_does_not_decide_the_normalised_mean",
    ),
    24: (
        "MTEB 1813: which ranking is the right one?",
        "leaderboard/rankings/test_agreement.py::test_the_board_says_how_far_each_rule_agrees_with_the_reference",
    ),
    25: (
        "MTEB 5101: partial results averaged as whole ones",
        f"{HERE}::test_leaving_a_hard_task_out_does_not_raise_ones_rank",
    ),
    26: (
        "MTEB 5228: two versions' figures mixed",
        "leaderboard/queue/test_publishing.py::test_an_older_process_never_moves_the_pointer_back_to_its_version",
    ),
    27: (
        "Codabench 851, 406, 2351: average rank asked for, for years",
        f"{HERE}::test_a_missing_score_never_outranks_a_number",
    ),
    28: (
        "codalab-competitions 2699, AIcrowd 1941: time breaks ties",
        f"{HERE}::test_a_tie_is_not_broken_by_who_came_first",
    ),
    29: (
        "MTEB 4411, 4489: 20 seconds to see a table",
        "leaderboard/boards/test_page_size.py::test_a_cell_of_the_board_of_glue_costs_few_bytes_and_the_page_few_queries",
    ),
    30: (
        "MTEB 1724: out of memory on loading results",
        "leaderboard/site/test_pages.py::test_the_board_takes_four_queries_unpacked_or_not",
    ),
    31: (
        "Codabench 1327, 1804: slow lists",
        "leaderboard/site/test_pages.py::test_the_list_of_benchmarks_takes_four_queries_however_long_it_is_and_reads_no_report",
    ),
    32: ("MTEB 200, 1531, OpenCompass 701: no export", f"{HERE}::test_the_exported_table_has_the_scores"),
    33: ("Codabench 1820: an export without the scores", f"{HERE}::test_the_exported_table_has_the_scores"),
    34: (
        "MTEB 1440, 1518: a view that cannot be linked to",
        "leaderboard/boards/test_query.py::test_an_address_says_everything_and_is_read_back_whole",
    ),
    35: (
        "EvalAI 2519, evalai-cli 339: a leaked token that stays; errors that say nothing",
        "leaderboard/api/test_tokens.py::test_a_revoked_token_opens_nothing_and_nobody_revokes_anothers",
    ),
    36: (
        "Codabench 2307: the API accepts after the end",
        "leaderboard/submissions/test_limits.py::test_no_door_accepts_submissions_after_the_deadline",
    ),
    37: (
        "Codabench 2525, 2536: anonymous users read submissions",
        "leaderboard/site/permissions/private/test_answers.py::test_every_kind_of_user_gets_the_answer_of_the_table",
    ),
    38: (
        "Grand Challenge 4367, 3530: own scores only, ranks without scores",
        "leaderboard/site/test_hidden.py::test_own_score_boards_show_strangers_nothing_and_count_nobody",
    ),
    39: (
        "MTEB 259: who verifies what is self-reported?",
        "leaderboard/submissions/moderation/test_decisions.py::test_a_flag_says_why_to_look_twice",
    ),
    40: (
        "Codabench 2109: mail to everybody",
        "leaderboard/notifications/test_notices.py::test_a_decision_is_told_to_the_submitter_and_to_nobody_else",
    ),
}


@pytest.mark.parametrize("number", range(1, 41))
def test_every_complaint_has_a_test(number):
    complaint, place = ANSWERS[number]
    path, _, name = place.partition("::")
    text = (Path(__file__).parents[2] / path).read_text(encoding="utf-8")
    assert f"def {name}(" in text, f"{complaint}: {place} is gone"


def ranks(benchmark, rule):
    board = published_board(benchmark.publication)
    column = next(column for column in board.columns if column.rule == rule)
    names = [system.name for system in systems_at(board.revision)]
    return dict(zip(names, column.ranks.tolist(), strict=True))


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("rule", ["mean", "median", "borda", "average_rank"])
def test_a_missing_score_never_outranks_a_number(make, direction, rule):
    """Codabench 1284, 2321, 2470: n/a outranked numbers, so that competitors hid results this way."""
    benchmark = make.benchmark({"Bad": [1.0, 1.0], "Gap": [None, 9.0], "Good": [2.0, 2.0]})
    Task.objects.filter(benchmark=benchmark).update(direction=direction)
    make.accepted(benchmark, {"Other": [1.5, 1.5]})
    rank_of = ranks(make.publish(benchmark), rule)
    assert rank_of["Gap"] == -1
    assert min(rank for name, rank in rank_of.items() if name != "Gap") == 1


def test_taking_a_bad_entry_away_brings_the_earlier_one_back(make):
    """Codabench 2018: deleting a bad entry removed the user from the board."""
    benchmark = make.benchmark({"A": [1.0, 1.0], "B": [2.0, 2.0]})
    make.accepted(benchmark, {"A": [9.0, 9.0]})
    bad = benchmark.submissions.order_by("-pk").first()
    revision = withdraw_submission(bad, actor=owner_of(benchmark), reason="It read the test set.")
    a = System.objects.get(benchmark=benchmark, name="A")
    assert {score.value for cell, score in current_scores(revision).items() if cell[0] == a.pk} == {1.0}
    revision = reinstate_submission(bad, actor=owner_of(benchmark), reason="It did not.")
    assert {score.value for cell, score in current_scores(revision).items() if cell[0] == a.pk} == {9.0}


def test_a_changed_direction_ranks_every_old_row_anew(make):
    """Codabench 1736: a rule's change was not applied to old rows. av2-api 70: sorted in the wrong direction."""
    benchmark = make.published({"Low": [1.0], "High": [2.0]})
    assert ranks(benchmark, "mean") == {"High": 1, "Low": 2}
    proposal = present_proposal(benchmark)
    tasks = [type(task)(**{**vars(task), "direction": -1}) for task in proposal.tasks]
    proposal = type(proposal)(**{**vars(proposal), "tasks": tasks})
    token = preview_proposal(benchmark, proposal).token
    apply_proposal(benchmark, proposal, author=owner_of(benchmark), token=token)
    assert ranks(make.publish(benchmark), "mean") == {"Low": 1, "High": 2}


def test_the_tenth_does_not_come_before_the_second(make):
    """Grand-challenge 2967: a combined board sorted ranks as texts."""
    benchmark = make.published({f"S{i:02}": [float(20 - i)] for i in range(12)})
    board = build_board(audience_of(owner_of(benchmark), benchmark), BoardQuery(sort="mean"))
    assert [row.name for row in board.rows] == [f"S{i:02}" for i in range(12)]


def test_a_replayed_upload_stores_nothing_twice(make):
    """Codabench: a replayed request appended its scores again, and sums doubled."""
    benchmark, user = make.benchmark({}, n_tasks=2), make.user()
    rows = [SubmittedRow("A", {"task-1": 1.0, "task-2": 2.0})]
    upload = Upload(rows=rows, creates_systems=True, idempotency_key="k", payload_hash="p")
    first, second = (submit_upload(benchmark, user, upload)[0] for _ in range(2))
    assert (first, Score.objects.count()) == (second, 2)


def test_a_tie_is_not_broken_by_who_came_first(make):
    """AIcrowd 1941, Codabench: time broke ties that the scores leave open."""
    first = make.published({"Early": [1.0, 2.0], "Late": [2.0, 1.0]})
    second = make.published({"Late": [2.0, 1.0], "Early": [1.0, 2.0]})
    for benchmark in (first, second):
        assert ranks(benchmark, "mean") == {"Early": 1, "Late": 1}


def test_the_exported_table_has_the_scores(make):
    """Codabench 1820: the exported CSV had no column of scores."""
    benchmark = make.published({"A": [1.25, 2.0], "B": [3.0, None]})
    text = Client().get(reverse("api:scores", args=[benchmark.key]), headers={"Accept": "text/csv"}).content.decode()
    assert list(csv.reader(io.StringIO(text))) == [["system", "Task 1", "Task 2"], ["A", "1.25", "2"], ["B", "3", ""]]


def test_leaving_a_hard_task_out_does_not_raise_ones_rank(make):
    """CodeSearchNet 129, HELM: a mean over what is present lets whoever leaves the hard task out win."""
    whole = {"Honest": [9.0, 2.0], "Other": [8.0, 3.0]}
    before = ranks(make.published(whole), "mean")
    after = ranks(make.published(whole | {"Honest": [9.0, None]}), "mean")
    assert before["Honest"] in (1, 2)
    assert after["Honest"] == -1


def test_an_own_entry_is_found_on_a_board_of_many_pages(make):
    """EvalAI cut the newest 10,000 rows off before it ranked them, and old best entries vanished."""
    scores = {f"S{i:03}": [float(i)] for i in range(230)}
    benchmark = make.published(scores)
    board = build_board(audience_of(owner_of(benchmark), benchmark), BoardQuery(page=3))
    assert (board.n_pages, len(board.rows), board.rows[-1].name) == (3, 30, "S000")
    assert np.isfinite(board.reference.scores).all()


def test_what_is_stuck_keeps_nobody_from_submitting_again(make):
    """EvalAI 4621: users were stuck, and submitting again froze the page."""
    benchmark, user = make.benchmark({"A": [1.0, 2.0]}, submission_policy="moderated"), make.user()
    first = make.submitted(benchmark, "Mine", ["3", "4"], by=user)
    second = make.submitted(benchmark, "Mine", ["5", "6"], by=user)
    for batch in (second, first):  # whichever is decided first, the other is not lost
        assert take_batch(batch, actor=owner_of(benchmark)) is not None
    assert ranks(make.publish(benchmark), "mean") == {"Mine": 1, "A": 2}


def test_a_list_names_the_lowest_where_lower_is_better(make):
    """HELM 2711: small boards showed the worst models first where lower is better."""
    tasks = [TaskSpec(f"Errors {t}", direction=-1) for t in (1, 2)]
    benchmark = make.published({"Careful": [1.0, 2.0], "Hasty": [9.0, 8.0]}, tasks=tasks, default_rule="average_rank")
    (line,) = listed(owner_of(benchmark)).benchmarks
    assert line.winner_names == ["Careful"]


def test_a_task_on_a_wider_scale_does_not_decide_the_normalised_mean(make):
    """lm-evaluation-harness 980: an average that is not normalised is the task's with the widest scale."""
    scales = {"Of one": 1.0, "Of a thousand": 1000.0}
    tasks = [TaskSpec(name, minimum=0.0, maximum=most, chance=0.0) for name, most in scales.items()]
    benchmark = make.published({"Even": [0.9, 500.0], "Wide": [0.1, 600.0]}, tasks=tasks)
    assert ranks(benchmark, "mean")["Wide"] == 1
    assert ranks(benchmark, "normalized_mean")["Even"] == 1
