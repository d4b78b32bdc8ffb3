"""What is said of one system: its ranks, its scores with reasons, and the submissions that one may know of."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.boards.system import ScoreGroup, TaskScore, system_page
from leaderboard.models import Benchmark
from leaderboard.rankings.text import ScoreCell
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, withdraw_submission
from tests.factories import owner_of

ANYONE = AnonymousUser()


def loaded(benchmark):
    return Benchmark.objects.select_related("publication__revision__configuration").get(pk=benchmark.pk)


def test_ranks_are_those_of_the_board(make):
    ranks = system_page(audience_of(ANYONE, make.published()), "a").ranks
    ranks_by_rule = {rank.rule_name: (rank.rank, rank.is_tied, rank.n_ranked) for rank in ranks}
    expected = {
        "Mean": (4, False, 4), "Plurality": (1, False, 4), "Borda": (4, False, 4), "Condorcet": (None, False, 1),
        "Copeland": (4, False, 4), "Minimax": (2, True, 4),
    }  # fmt: skip
    assert {rule: ranks_by_rule[rule] for rule in expected} == expected
    assert all(bool(rank.reason) == (rank.rank is None) for rank in ranks)


def test_who_sees_no_other_system_reads_a_rank_without_how_many_there_are(make, client):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]}, submission_policy="open")
    user = make.user()
    make.submitted(benchmark, "Mine", ["0"], by=user)
    benchmark = make.publish(benchmark)
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view="own")
    ranks = system_page(audience_of(user, loaded(benchmark)), "mine").ranks
    assert {(rank.rank, rank.n_ranked) for rank in ranks if rank.rank} >= {(3, None)}
    client.force_login(user)
    page = " ".join(client.get(reverse("system", args=[benchmark.key, "mine"])).content.decode().split())
    assert "<small>of" not in page
    ranks = system_page(audience_of(benchmark.memberships.get(role="owner").user, loaded(benchmark)), "mine").ranks
    assert (3, 3) in {(rank.rank, rank.n_ranked) for rank in ranks}


def test_scores_are_written_as_stored_and_missing_ones_say_why(make):
    tasks = [
        TaskSpec("Whole", group="G"), TaskSpec("Fine", group="G"), TaskSpec("Gone"), TaskSpec("Never", direction=0),
    ]  # fmt: skip
    benchmark = make.published({"A": [3.0, 0.1, None, -0.5]}, tasks=tasks, groups=[GroupSpec("G")])
    assert system_page(audience_of(ANYONE, benchmark), "a").score_groups == [
        ScoreGroup("G", [
            TaskScore("Whole", is_voting=True, cell=ScoreCell("3", "", value=3.0, text="3")),
            TaskScore("Fine", is_voting=True, cell=ScoreCell("0.1", "", value=0.1, text="0.1")),
        ]),
        ScoreGroup("", [
            TaskScore("Gone", is_voting=True, cell=ScoreCell("", "not reported")),
            TaskScore("Never", is_voting=False, cell=ScoreCell("-0.5", "", value=-0.5, text="−0.5")),
        ]),
    ]  # fmt: skip


def test_scores_of_one_group_stand_under_its_name_unless_there_is_one_only(make, client):
    tasks = [TaskSpec("One", group="G"), TaskSpec("Two", group="G"), TaskSpec("Alone", group="H"), TaskSpec("Free")]
    benchmark = make.published({"A": [1.0, 2.0, 3.0, 4.0]}, tasks=tasks, groups=[GroupSpec("G"), GroupSpec("H")])
    groups = system_page(audience_of(ANYONE, benchmark), "a").score_groups
    assert [(group.name, group.heading, len(group.scores)) for group in groups] == [
        ("G", "G", 2), ("H", "", 1), ("", "", 1),
    ]  # fmt: skip
    text = client.get(reverse("system", args=[benchmark.key, "a"])).content.decode()
    assert text.count('<th scope="rowgroup"') == 1


@pytest.mark.parametrize("key", ["nobody", "A", ""])
def test_there_is_no_page_of_what_is_not_on_the_published_board(make, key):
    with pytest.raises(Http404):
        system_page(audience_of(ANYONE, make.published()), key)


def test_a_system_that_left_has_no_page_until_it_is_back(make):
    benchmark = make.published({"A": [1.0], "B": [2.0]})
    withdraw_submission(benchmark.submissions.get(system__key="b"), actor=owner_of(benchmark), reason="A mistake.")
    assert system_page(audience_of(ANYONE, loaded(benchmark)), "b")  # not published yet
    with pytest.raises(Http404):
        system_page(audience_of(ANYONE, make.publish(benchmark)), "b")


def test_who_sees_which_submissions_and_which_of_them_lead_somewhere(make):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, submission_policy="moderated")
    sender, owner = make.user("sender"), benchmark.memberships.get().user
    waiting, refused, taken_back = (make.pending(benchmark, {"A": [2.0]}, by=sender) for _ in range(3))
    reject_batch(refused, actor=owner, reason="no")
    accept_batch(taken_back, actor=owner)
    withdraw_submission(taken_back.submissions.get(), actor=owner, reason="A mistake.")
    assert waiting.submissions.get().state == "pending"

    def submissions(viewer):
        rows = system_page(audience_of(viewer, loaded(benchmark)), "a").submissions
        return [(row.state_text, bool(row.url)) for row in rows]

    public = [("withdrawn", False), ("accepted", True)]
    everything = [("withdrawn", True), ("rejected", True), ("waiting for a moderator", True), ("accepted", True)]
    texts = [state.lower() for state, _ in submissions(ANYONE)]
    assert texts == ["withdrawn", "accepted"]
    for viewer, expected in (
        (ANYONE, public), (make.user(), public), (make.member(benchmark, "member"), public), (sender, everything),
        (owner, everything), (make.member(benchmark, "moderator"), everything),
    ):  # fmt: skip
        assert [(state.lower(), is_open) for state, is_open in submissions(viewer)] == expected


def test_no_link_leads_to_a_batch_that_is_closed_because_another_of_its_submissions_was_withdrawn(make, client):
    benchmark = make.published({"A": [1.0], "B": [2.0]})
    make.accepted(benchmark, {"A": [3.0], "B": [4.0]})
    batch = benchmark.batches.first()
    withdraw_submission(batch.submissions.get(system__key="b"), actor=owner_of(benchmark), reason="A mistake.")
    urls = [row.url for row in system_page(audience_of(ANYONE, make.publish(benchmark)), "a").submissions if row.url]
    assert len(urls) == 1
    assert [client.get(url).status_code for url in urls] == [200]


def test_many_submissions_have_pages_and_each_reader_turns_those_that_they_may_see(make, client, monkeypatch):
    monkeypatch.setattr("leaderboard.boards.system.PAGE_SUBMISSIONS", 2)
    benchmark = make.benchmark(submission_policy="moderated")
    for number in range(4):
        make.accepted(benchmark, {"A": [float(number)] * 5})
    submitter = make.user()
    make.pending(benchmark, {"A": [9.0] * 5}, by=submitter)
    benchmark = make.publish(benchmark)
    accepted = ["Accepted", *["Replaced by a later submission"] * 4]
    for viewer, states in ((ANYONE, accepted), (submitter, ["Waiting for a moderator", *accepted])):
        pages = [
            system_page(audience_of(viewer, benchmark), "a", page=number).submissions for number in ("1", "2", "3")
        ]
        assert [row.state_text for page in pages for row in page] == states
    text = client.get(reverse("system", args=[benchmark.key, "a"]) + "?submissions=2").content.decode()
    assert ("Page 2 of 3" in text, 'href="?submissions=3#submissions"' in text) == (True, True)
