"""Votes from an upload to the board: what is stored, what is rated, and what the board ranks."""

import json
import zlib
from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Benchmark, Revision, Score, SubmissionEvent, VoteBatch, VoteReport
from leaderboard.submissions.problems import SubmissionError
from leaderboard.votes.lifecycle import accept_votes, reinstate_votes, withdraw_votes
from leaderboard.votes.settings import start_collecting
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.reading import read_votes
from tests.factories import owner_of
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines


def board_scores(benchmark: Benchmark) -> dict[tuple[str, str], float]:
    """The scores of the newest batch by system and task."""
    ratings = VoteReport.objects.filter(benchmark=benchmark).order_by("-change")[0]
    rows = Score.objects.filter(submission__batch=ratings.scores).exclude(value=None)
    return {(row.submission.system.name, row.task.name): row.value for row in rows.select_related("task")}


def expected_scores(*tables: str) -> dict[tuple[str, str], float]:
    """The same from the engine alone, from all rows as one file."""
    head, *_ = tables[0].splitlines()
    whole = "\n".join([head, *(line for table in tables for line in table.splitlines()[1:])])
    matrix = category_scores(read_votes(whole.encode())).matrix
    return {
        (system, task): pytest.approx(matrix.values[i, t], abs=1e-6)
        for i, system in enumerate(matrix.system_names)
        for t, task in enumerate(matrix.task_names)
        if not np.isnan(matrix.values[i, t])
    }


def test_a_file_from_the_page_becomes_a_draft_then_ratings_then_a_board(make, client):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.post(reverse("send_votes", args=[benchmark.key]), {"text": vote_lines(240)})
    draft = VoteBatch.objects.get()
    assert (answer["Location"], draft.state) == (reverse("vote_batch", args=[draft.uuid]), "draft")
    page = client.get(answer["Location"]).content.decode()
    assert "240 votes on 4 systems" in page
    assert "Send these votes" in page
    client.post(answer["Location"], {"action": "confirm"})
    rate(benchmark)
    benchmark = make.publish(benchmark)
    assert board_scores(benchmark) == expected_scores(vote_lines(240))
    board = client.get(reverse("board", args=[benchmark.key])).content.decode()
    assert all(name in board for name in ("Ash", "Birch", "Cedar", "Dogwood"))
    votes = client.get(reverse("votes", args=[benchmark.key])).content.decode()
    assert "Without" in votes
    assert "Points by category" in votes


def test_two_batches_are_rated_as_one_file_would_be(make):
    benchmark = collecting(make)
    first, second = vote_lines(120, seed=1), vote_lines(180, seed=2)
    sent(benchmark, first)
    sent(benchmark, second)
    rate(benchmark)
    assert board_scores(benchmark) == expected_scores(first, second)


def test_a_withdrawn_batch_counts_no_more_until_it_is_reinstated(make):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    first, second = vote_lines(120, seed=1), vote_lines(180, seed=2)
    sent(benchmark, first)
    batch = sent(benchmark, second)
    withdraw_votes(batch, actor=owner, reason="A broken log.")
    rate(benchmark)
    assert board_scores(benchmark) == expected_scores(first)
    reinstate_votes(batch, actor=owner, reason="The log was right.")
    rate(benchmark)
    assert board_scores(benchmark) == expected_scores(first, second)
    kinds = list(batch.events.values_list("kind", flat=True))
    assert kinds == ["sent", "accepted", "withdrawn", "reinstated"]


def test_without_votes_every_system_stays_without_scores(make):
    benchmark = collecting(make)
    batch = sent(benchmark, vote_lines(120))
    rate(benchmark)
    withdraw_votes(batch, actor=owner_of(benchmark), reason="A broken log.")
    rate(benchmark)
    assert board_scores(benchmark) == {}
    assert make.publish(benchmark).published_number == Revision.objects.filter(benchmark=benchmark).count()


def test_what_waits_for_a_moderator_changes_nothing(make):
    benchmark = collecting(make, submission_policy="moderated")
    sent(benchmark, vote_lines(120))
    rate(benchmark)
    before = board_scores(benchmark)
    batch = sent(benchmark, vote_lines(120, seed=5), by=make.user())
    assert batch.state == "pending"
    rate(benchmark)
    assert board_scores(benchmark) == before
    accept_votes(batch, actor=make.member(benchmark, "moderator"))
    rate(benchmark)
    assert board_scores(benchmark) == expected_scores(vote_lines(120), vote_lines(120, seed=5))


def test_standard_errors_and_numbers_of_votes_come_with_the_scores(make):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(240))
    rate(benchmark)
    scores = category_scores(read_votes(vote_lines(240).encode()))
    stored = {
        (row.submission.system.name, row.task.name): (row.standard_error, row.n_instances)
        for row in Score.objects.filter(submission__benchmark=benchmark).select_related("task")
    }
    assert stored == {
        (system, task): (pytest.approx(scores.board_errors[i, t], rel=1e-6), scores.n_of_systems[i, t])
        for i, system in enumerate(scores.matrix.system_names)
        for t, task in enumerate(scores.matrix.task_names)
    }


def test_an_older_job_does_not_overwrite_newer_ratings(make):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(120, seed=1))
    sent(benchmark, vote_lines(120, seed=2))
    rate(benchmark)  # the older job is superseded, or finds newer ratings
    assert list(VoteReport.objects.values_list("change", flat=True)) == [2]


def test_a_category_without_votes_rests_and_comes_back(make):
    benchmark = collecting(make)
    owner = owner_of(benchmark)
    sent(benchmark, vote_lines(120, categories=["code"]))
    batch = sent(benchmark, vote_lines(120, categories=["text"]))
    rate(benchmark)
    archived = benchmark.tasks.values_list("name", "is_archived").order_by("name")
    assert list(archived) == [("code", False), ("text", False)]
    withdraw_votes(batch, actor=owner, reason="A broken log.")
    rate(benchmark)
    assert list(archived.all()) == [("code", False), ("text", True)]
    reinstate_votes(batch, actor=owner, reason="The log was right.")
    rate(benchmark)
    assert list(archived.all()) == [("code", False), ("text", False)]


def test_under_an_embargo_ratings_wait_and_only_those_who_decide_see_them(make, client):
    benchmark = collecting(make)
    benchmark.embargo_until = timezone.now() + timedelta(days=1)
    benchmark.save(update_fields=["embargo_until"])
    sent(benchmark, vote_lines(120))
    rate(benchmark)
    assert not SubmissionEvent.objects.filter(submission__benchmark=benchmark, kind="accepted").exists()
    path = reverse("votes", args=[benchmark.key])
    assert "No ratings yet" in client.get(path).content.decode()
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    assert "Points by category" in client.get(path).content.decode()


def test_a_benchmark_with_scores_does_not_turn_to_votes(make):
    benchmark = make.benchmark()
    with pytest.raises(SubmissionError, match="has submissions of scores"):
        start_collecting(benchmark, author=owner_of(benchmark))


def test_a_benchmark_that_collects_votes_takes_no_scores(make, client):
    benchmark = collecting(make)
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    for route in ("submit", "upload"):
        answer = client.get(reverse(route, args=[benchmark.key]))
        assert (answer.status_code, "computed from votes" in answer.content.decode()) == (403, True)


def test_no_name_of_a_voter_is_stored(make):
    benchmark = collecting(make)
    batch = sent(benchmark, vote_lines(120))
    rate(benchmark)
    stored = zlib.decompress(batch.votes)
    report = zlib.decompress(VoteReport.objects.get().report)
    assert batch.n_voters == 9
    assert (b"person" in stored, b"person" in report, b"prompt " in stored) == (False, False, False)
    assert json.loads(report)["n_votes"] == 120
