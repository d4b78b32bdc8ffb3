"""What is said of one system: its ranks, its scores with reasons, and the submissions that one may know of."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from jobs.runner import run_job
from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.boards.system import ScoreGroup, TaskScore, system_page
from leaderboard.models import Benchmark, Job
from leaderboard.queue.kinds import PROSPECTS
from leaderboard.rankings.revision_parameter import publication_asked_for
from leaderboard.rankings.text import ScoreCell
from leaderboard.studies.page import names_at
from leaderboard.submissions.lifecycle import accept_batch, reinstate_submission, reject_batch, withdraw_submission
from leaderboard.submissions.moderation.takedowns import take_down
from tests.factories import owner_of
from tests.markup import compact

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


# --- Older revisions, and systems that left -------------------------------------------------------------------------


@pytest.fixture
def left(make):
    """A benchmark of three revisions: B joined at the second, and its scores were withdrawn at the third."""
    benchmark = make.published({"A": [1.0, 2.0], "C": [2.0, 1.0]})

    def published() -> Benchmark:
        make.publish(benchmark)
        for job in Job.objects.filter(benchmark=benchmark, kind=PROSPECTS, state="waiting"):
            run_job(job.pk, worker="test")
        return loaded(benchmark)

    make.accepted(benchmark, {"B": [3.0, 3.0]})
    published()
    submission = benchmark.submissions.get(system__key="b")
    withdraw_submission(submission, actor=owner_of(benchmark), reason="Sent by\nmistake.")
    return published()


def answer_of(client, path: str) -> tuple[int, str]:
    """The code of a page, and what it says below the head of the site."""
    answer = client.get(path)
    return answer.status_code, compact(answer).partition("<main")[2]


def test_a_system_whose_scores_were_withdrawn_has_a_page_that_says_so(left, client):
    page = reverse("system", args=[left.key, "b"])
    for address in (page, f"{page}?revision=3"):
        status, text = answer_of(client, address)
        main = text[text.index('<div class="prose">') :]
        assert status == 410
        assert '<h1>B <span class="badge">withdrawn</span></h1>' in text
        assert "The scores of B were withdrawn on <time " in main
        assert "Since revision 3 it is not on the board." in main
        assert "<p>Reason: Sent by mistake.</p>" in main
        assert f'<a href="{page}?revision=2">Its ranks and scores at revision 2</a>, the last that has it' in main


def test_the_page_of_a_system_answers_for_every_revision_at_which_it_was_on_the_board(left, client, make):
    page = reverse("system", args=[left.key, "b"])
    status, text = answer_of(client, f"{page}?revision=2")
    assert status == 200
    assert f'This is revision 2, not the newest one. <a href="{page}">B now</a>' in text
    assert f'href="/api/v1/benchmarks/{left.key}/systems/b/?revision=2"' in text
    assert f'href="/b/{left.key}/head-to-head/?revision=2&amp;a=b"' in text
    assert '<input type="hidden" name="revision" value="2">' in text or "condition-row" not in text
    assert "Badge for other sites" not in text
    assert system_page(audience_of(ANYONE, at(left, 2)), "b").sentence.startswith("Rank 1 of 3 under Borda;")
    assert system_page(audience_of(ANYONE, at(left, 1)), "a").sentence.startswith("Tied at rank 1 of 2 under Borda;")
    for number, code in ((1, 404), (2, 200), (3, 410), (4, 404)):
        assert (number, client.get(f"{page}?revision={number}").status_code) == (number, code)
    assert "B now" not in answer_of(client, reverse("system", args=[left.key, "a"]) + "?revision=3")[1]


def at(benchmark: Benchmark, number: int) -> Benchmark:
    benchmark = loaded(benchmark)
    benchmark.publication = publication_asked_for(benchmark, str(number))
    return benchmark


def test_links_to_systems_keep_the_revision_that_a_page_shows(left, client):
    key = left.key
    for path in (
        "", "scores/", "head-to-head/", "head-to-head/?pin=a&pin=b&pin=c", "agreement/?pin=b", "prospects/", "what-if/",
        "tasks/task-1/", "rules/borda/", "embed/",
    ):  # fmt: skip
        joiner = "&" if "?" in path else "?"
        older = links_to_systems(client.get(f"/b/{key}/{path}{joiner}revision=2"), key)
        newest = links_to_systems(client.get(f"/b/{key}/{path}"), key)
        assert (path, {query for _, query in older} | {query for _, query in newest}) == (path, {"?revision=2", ""})
        assert (path, "b" in dict(older), "b" in dict(newest)) == (path, True, False)
    of_studies = [names_at(left, revision).system("a").url for revision in left.revisions.order_by("number")]
    page = f"/b/{key}/systems/a/"
    assert of_studies == [f"{page}?revision=1", f"{page}?revision=2", page]
    redirected = client.get(f"/b/{key}/prospects/?system=B&revision=2")
    assert redirected["Location"] == f"/b/{key}/systems/b/?revision=2#prospects"


def links_to_systems(answer, key: str) -> list[tuple[str, str]]:
    """Of every link to the page of a system its key, and what is behind that in the address."""
    assert answer.status_code == 200
    return re.findall(rf'href="/b/{key}/systems/([a-z]+)/([^"#]*)', answer.content.decode())


def test_a_system_that_came_back_has_its_page_again(left, client, make):
    submission = left.submissions.get(system__key="b")
    reinstate_submission(submission, actor=owner_of(left), reason="It was none.")
    make.publish(left)
    page = reverse("system", args=[left.key, "b"])
    assert client.get(page).status_code == 200
    status, text = answer_of(client, f"{page}?revision=3")
    assert status == 410
    assert f', at revision 3. The current board has it again: <a href="{page}">B now</a>' in text
    assert "it is not on the board" not in text


@pytest.mark.parametrize("is_on_the_board", [True, False])
def test_nothing_is_said_of_a_system_whose_scores_were_taken_down(make, client, is_on_the_board):
    benchmark = make.published({"A": [1.0, 2.0], "Secret": [2.0, 1.0]})
    owner = owner_of(benchmark)
    submission = benchmark.submissions.get(system__key="secret")
    if not is_on_the_board:
        withdraw_submission(submission, actor=owner, reason="Private.")
        make.publish(benchmark)
    take_down(submission, actor=owner, reason="Private.")
    make.publish(benchmark)
    client.force_login(owner)
    for end, code in (("", 404), ("?revision=1", 410)):
        status, text = answer_of(client, reverse("system", args=[benchmark.key, "secret"]) + end)
        assert (status, "Secret" in text, "Private." in text) == (code, False, False)


def test_who_may_not_know_of_a_system_learns_no_more_once_it_left(left, client, make):
    nobody = answer_of(client, reverse("system", args=[left.key, "nobody"]))
    for hides in ({"score_view": "own"}, {"score_view": "ranks"}, {"anonymous_until": timezone.now() + timedelta(1)}):
        Benchmark.objects.filter(pk=left.pk).update(**hides)
        for end in ("", "?revision=2", "?revision=3"):
            assert answer_of(client, reverse("system", args=[left.key, "b"]) + end) == nobody
        Benchmark.objects.filter(pk=left.pk).update(score_view="full", anonymous_until=None)
    Benchmark.objects.filter(pk=left.pk).update(visibility="private")
    assert answer_of(client, reverse("system", args=[left.key, "b"])) == answer_of(client, "/b/none/systems/b/")
