"""Benchmarks that collect votes from the start: made on the page of new ones, or as copies of others."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from leaderboard.benchmarks.releases import new_edition, use_as_template
from leaderboard.models import AuditEntry, Benchmark, BenchmarkDraft, Job, Turn, VoteBatch, VoteSettings
from leaderboard.queue.kinds import VOTES
from leaderboard.queue.turns import in_order_of_turns, want_while_looking
from tests.factories import owner_of
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines
from tests.markup import compact
from tests.signing_in import signed_in

CHOICES = {
    "tie_model": "davidson", "cluster": "voter", "covariates": ["length"], "n_resamples": 200, "shows_elo": True,
    "exports_voters": True,
}  # fmt: skip


def chosen_of(benchmark):
    return VoteSettings.objects.values(*CHOICES).get(benchmark=benchmark)


def test_the_page_of_a_new_benchmark_leads_to_one_for_votes(make, db):
    user = make.user()
    browser = signed_in(user)
    page = compact(browser.get(reverse("new")))
    assert "A benchmark can collect votes that say which of two systems was better." in page
    answer = browser.post(reverse("new"), {"name": "Arena", "action": "votes"})
    made = Benchmark.objects.get()
    assert answer["Location"] == reverse("manage_votes", args=[made.key])
    assert (made.name, made.kind, made.visibility, made.submission_policy) == (
        "Arena", "votes", "private", "moderated",
    )  # fmt: skip
    assert list(made.memberships.values_list("user", "role")) == [(user.pk, "owner")]
    trail = AuditEntry.objects.filter(benchmark=made).order_by("pk").values_list("field", "after")
    assert list(trail) == [("created", "yes"), ("kind", "votes")]
    assert "How votes are rated" in compact(browser.get(answer["Location"]))
    sent(made, vote_lines(120))
    rate(made)
    assert make.publish(made).last_revision_number == 1


@pytest.mark.parametrize(("name", "message"), [("", "Enter a name."), ("a\u202eb", "name"), ("x" * 500, "at most")])
def test_without_a_proper_name_there_is_none(make, db, name, message):
    answer = signed_in(make.user()).post(reverse("new"), {"name": name, "action": "votes", "tasks": "T"})
    assert (answer.status_code, message in compact(answer)) == (400, True)
    assert (Benchmark.objects.count(), BenchmarkDraft.objects.count()) == (0, 0)


TABLE = "system,QA\nA,1\nB,2\n"


@pytest.mark.parametrize("given", ["file", "text", "tasks", "about"])
def test_a_table_or_tasks_are_not_dropped_for_votes_but_refused_with_the_reason(make, db, given):
    browser = signed_in(make.user())
    content = {
        "file": lambda: SimpleUploadedFile("scores.csv", TABLE.encode()),
        "text": lambda: TABLE,
        "tasks": lambda: "QA\nSums",
        "about": lambda: SimpleUploadedFile("benchmark.toml", b'title = "Arena"\n'),
    }[given]
    answer = browser.post(reverse("new"), {"name": "Arena", "action": "votes", given: content()})
    page = compact(answer)
    assert answer.status_code == 400
    assert "To create a benchmark with these scores or tasks, press “Preview”." in page
    assert (Benchmark.objects.count(), BenchmarkDraft.objects.count()) == (0, 0)
    assert ("system,QA" in page, "The table of scores.csv is in" in page) == (
        given in ("file", "text"),
        given == "file",
    )
    assert ("Browsers do not keep a chosen file." in page) is (given == "about")
    # The page has what was sent: both buttons work from there.
    form = answer.context["form"]
    kept = {name: form[name].value() or "" for name in ("name", "text", "tasks", "kept")}
    assert browser.post(reverse("new"), kept | {"text": "", "tasks": "", "action": "votes"}).status_code == 302
    if given != "about":
        assert "/new/" in browser.post(reverse("new"), kept)["Location"]


def test_accounts_make_so_many_and_no_more(make, db, settings):
    settings.BENCHMARKS_PER_ACCOUNT = 1
    browser = signed_in(make.user())
    assert browser.post(reverse("new"), {"name": "One", "action": "votes"}).status_code == 302
    answer = browser.post(reverse("new"), {"name": "Two", "action": "votes"})
    assert (answer.status_code, "An account can create 1 benchmarks here" in compact(answer)) == (400, True)


def test_ratings_go_before_all_that_boards_have_left_to_compute_that_no_one_waits_for(make):
    other = make.published()
    waiting = Job.objects.filter(queue="studies", state="waiting")
    assert waiting.filter(benchmark=other).count() > 2
    benchmark = collecting(make)
    sent(benchmark, vote_lines(120))
    order = list(in_order_of_turns(waiting).values_list("benchmark", "kind"))
    assert order[0] == (benchmark.pk, VOTES)
    want_while_looking(other.pk)  # then both are wanted: they take turns, and still no study comes first
    Turn.objects.filter(benchmark=other).update(parts_at=timezone.now())
    order = list(in_order_of_turns(waiting).values_list("benchmark", "kind"))
    assert order[0] == (benchmark.pk, VOTES)
    Turn.objects.filter(benchmark=benchmark).update(parts_at=timezone.now())
    kinds = [kind for _, kind in in_order_of_turns(waiting).values_list("benchmark", "kind")]
    assert kinds[0] != VOTES
    assert kinds.index(VOTES) < kinds.index("axioms")


@pytest.mark.parametrize("way", ["edition", "edition with scores", "template"])
def test_a_copy_collects_votes_as_the_original_does_and_has_none(make, way):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(240))
    rate(benchmark)
    VoteSettings.objects.filter(benchmark=benchmark).update(**CHOICES)
    benchmark = make.publish(benchmark)
    owner = owner_of(benchmark)
    if way == "template":
        copy = use_as_template(benchmark, author=owner, name="Copy")
    else:
        copy = new_edition(benchmark, author=owner, name="Copy", with_scores=way == "edition with scores")
    assert (copy.kind, chosen_of(copy)) == ("votes", CHOICES)
    keys = [bytes(VoteSettings.objects.get(benchmark=one).voter_key) for one in (benchmark, copy)]
    assert keys[0] != keys[1]
    assert (copy.vote_batches.count(), copy.batches.count(), copy.last_revision_number) == (0, 0, 0)
    assert [task.name for task in copy.tasks.all()] == [task.name for task in benchmark.tasks.all()]
    VoteSettings.objects.update(covariates=[], n_resamples=0)  # the votes here have none, and time is short
    sent(copy, vote_lines(240, categories=("code",)))
    rate(copy)
    assert make.publish(copy).last_revision_number == 1
    assert sorted(copy.tasks.values_list("name", "is_archived")) == [("code", False), ("text", True)]


def test_tasks_that_rest_in_the_original_come_back_in_its_edition(make):
    benchmark = collecting(make)
    batches = [sent(benchmark, vote_lines(240, categories=(category,))) for category in ("code", "text")]
    VoteBatch.objects.filter(pk=batches[1].pk).update(state="withdrawn")
    rate(benchmark)
    sent(benchmark, vote_lines(240, categories=("code", "text")))
    rate(benchmark)
    VoteBatch.objects.filter(benchmark=benchmark).exclude(pk=batches[0].pk).update(state="withdrawn")
    sent(benchmark, vote_lines(240, seed=1, categories=("code",)))
    rate(benchmark)
    assert sorted(benchmark.tasks.values_list("name", "is_archived")) == [("code", False), ("text", True)]
    copy = new_edition(benchmark, author=owner_of(benchmark), name="Copy", with_scores=False)
    sent(copy, vote_lines(240))
    rate(copy)
    assert sorted(copy.tasks.values_list("name", "is_archived")) == [("code", False), ("text", False)]
