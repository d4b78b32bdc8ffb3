"""A decision is the same whether a page or a program brings it: the same events, revisions, bans and refusals."""

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.tokens import create_token
from leaderboard.models import AuditEntry, Ban, Benchmark, Notice, Score, Submission, SubmissionEvent
from leaderboard.submissions.lifecycle import accept_batch, reject_batch, withdraw_submission
from leaderboard.submissions.moderation.takedowns import take_down
from tests.factories import SIX_SYSTEMS, owner_of
from tests.signing_in import signed_in

WHY = "Measured on the training set."


class Case:
    """A benchmark with one submission, in the state that a decision finds it in."""

    def __init__(self, make, state, *, by_moderator=False):
        self.benchmark = make.benchmark(SIX_SYSTEMS, submission_policy="moderated")
        self.owner = owner_of(self.benchmark)
        self.submitter = make.member(self.benchmark, "moderator") if by_moderator else make.user()
        self.batch = make.pending(self.benchmark, {"New": [12.5, 47.5]}, by=self.submitter)
        self.submission = self.batch.submissions.select_related("batch", "benchmark", "system").get()
        if state in ("accepted", "withdrawn", "taken down"):
            accept_batch(self.batch, actor=self.owner)
        if state == "withdrawn":
            withdraw_submission(self.submission, actor=self.owner, reason="An error.")
        if state == "taken down":
            take_down(self.submission, actor=self.owner, reason="A request.")
        if state == "rejected":
            reject_batch(self.batch, actor=self.owner, reason="No.")

    def outcome(self):
        """What there is afterwards, people and numbers by what they are to the benchmark."""
        people = {self.owner.pk: "owner", self.submitter.pk: "submitter", None: ""}
        benchmark = Benchmark.objects.get(pk=self.benchmark.pk)
        events = SubmissionEvent.objects.filter(submission=self.submission).select_related("revision").order_by("pk")
        trail = AuditEntry.objects.filter(benchmark=benchmark).order_by("pk")
        notices = Notice.objects.filter(benchmark=benchmark).order_by("pk")
        return {
            "state": Submission.objects.get(pk=self.submission.pk).state,
            "events": [(e.kind, people[e.actor_id], e.reason, e.revision and e.revision.number) for e in events],
            "revisions": list(benchmark.revisions.order_by("number").values_list("number", "cause", "note")),
            "scores": list(Score.objects.filter(submission=self.submission).order_by("pk").values_list("value")),
            "bans": [(people[ban.user_id], ban.reason) for ban in Ban.objects.filter(benchmark=benchmark)],
            "trail": [(people[e.actor_id], e.subject, e.field, e.before, e.after, e.reason) for e in trail],
            "notices": [(people[n.user_id], n.kind, n.words) for n in notices if n.user_id in people],
        }


def by_page(case, decision, reason, actor):
    """The decision by the page that offers it; whatever the page refuses, in words."""
    key, uuid = case.benchmark.key, case.batch.uuid
    data = {"action": decision, "reason": reason, "with_note": "", "is_sure": "1"}
    if decision in ("accept", "reject", "reject_and_ban"):
        path = reverse("manage_decide", args=[key, uuid])
    elif decision == "take_down":
        path = reverse("takedown", args=[case.submission.uuid])
    else:
        path = reverse("batch_step", args=[uuid])
    answer = signed_in(actor).post(path, data)
    form = answer.context and answer.context.get("form")
    refusals = [str(message) for message in get_messages(answer.wsgi_request) if message.level_tag == "error"]
    if answer.context and answer.context.get("refusal"):
        refusals.append(answer.context["refusal"])
    return [*refusals, *(form.non_field_errors() if form else [])], answer.status_code


def post(actor, path, body):
    """A call of the API with a token of the actor's."""
    _, secret = create_token(actor, name=f"token {actor.api_tokens.count()}", scopes=("submit", "manage"), days=30)
    return Client().post(
        f"/api/v1/{path}", body, content_type="application/json", headers={"Authorization": f"Token {secret}"}
    )


def by_program(case, decision, reason, actor, *, several):
    """The same decision by the API, alone or as one of several; whatever it refuses, in words."""
    body = {"reason": reason}
    if several:
        body |= {"submissions": [str(case.batch.uuid)], "decision": decision}
        path = f"benchmarks/{case.benchmark.key}/decisions/"
    else:
        body |= {"is_sure": True} if decision == "take_down" else {}
        path = f"submissions/{case.batch.uuid}/{decision.replace('_', '-')}/"
    content = post(actor, path, body).json()
    return content["refused"] if "refused" in content else [content["error"]["message"]] if "error" in content else []


@pytest.mark.parametrize(
    ("decision", "state", "reason"),
    [
        ("accept", "pending", ""),
        ("accept", "pending", WHY),
        ("accept", "rejected", WHY),
        ("reject", "pending", f"  {WHY}\r\nReally. "),
        ("reject", "accepted", WHY),
        ("reject_and_ban", "pending", WHY),
        ("reject_and_ban", "rejected", WHY),
        ("withdraw", "accepted", WHY),
        ("withdraw", "pending", WHY),
        ("reinstate", "withdrawn", WHY),
        ("reinstate", "accepted", WHY),
        ("reinstate", "taken down", WHY),
        ("take_down", "accepted", WHY),
        ("take_down", "withdrawn", WHY),
        ("take_down", "pending", WHY),
        ("take_down", "taken down", WHY),
    ],
)
def test_a_page_and_a_program_decide_the_same(make, decision, state, reason):
    first = Case(make, state)
    refused, _ = by_page(first, decision, reason, first.owner)
    if decision in ("accept", "reject", "reject_and_ban"):
        third = Case(make, state)
        refusals = by_program(third, decision, reason, third.owner, several=True)
        assert third.outcome() == first.outcome()
        assert [text.split(": ")[-1] for text in refusals] == [text.split(": ")[-1] for text in refused]
    if decision != "reject_and_ban":
        second = Case(make, state)
        refusals = by_program(second, decision, reason, second.owner, several=False)
        assert second.outcome() == first.outcome()
        assert refusals == [text.split(": ")[-1] if "already decided" in text else text for text in refused]
    is_possible = (decision, state) in {
        ("accept", "pending"), ("reject", "pending"), ("reject_and_ban", "pending"), ("withdraw", "accepted"),
        ("reinstate", "withdrawn"), ("take_down", "accepted"), ("take_down", "withdrawn"),
    }  # fmt: skip
    assert bool(refused) != is_possible


@pytest.mark.parametrize("decision", ["reject", "reject_and_ban", "withdraw", "reinstate", "take_down"])
def test_without_a_reason_neither_decides(make, decision):
    state = {"withdraw": "accepted", "reinstate": "withdrawn", "take_down": "accepted"}.get(decision, "pending")
    first, second = Case(make, state), Case(make, state)
    before = first.outcome()
    by_page(first, decision, " \r\n ", first.owner)
    refusals = by_program(second, decision, " \r\n ", second.owner, several=decision == "reject_and_ban")
    assert first.outcome() == second.outcome() == before
    assert len(refusals) == 1


def test_where_the_submitter_cannot_be_banned_neither_decides(make):
    first, second = (Case(make, "pending", by_moderator=True) for _ in range(2))
    before = first.outcome()
    refused, _ = by_page(first, "reject_and_ban", WHY, first.owner)
    refusals = by_program(second, "reject_and_ban", WHY, second.owner, several=True)
    assert refused == refusals == ["Owners and moderators cannot be banned; remove their role first."]
    assert first.outcome() == second.outcome() == before


@pytest.mark.parametrize("state", ["accepted", "rejected", "withdrawn"])
def test_a_rejection_that_comes_too_late_bans_nobody(make, state):
    first, second = (Case(make, state) for _ in range(2))
    before = first.outcome()
    by_page(first, "reject_and_ban", WHY, first.owner)
    by_program(second, "reject_and_ban", WHY, second.owner, several=True)
    assert first.outcome() == second.outcome() == before


def test_a_page_says_that_the_submitter_is_banned_only_where_it_bans(make):
    late, timely = Case(make, "rejected"), Case(make, "pending")
    said = {}
    for case in (late, timely):
        path = reverse("manage_decide", args=[case.benchmark.key, case.batch.uuid])
        answer = signed_in(case.owner).post(path, {"action": "reject_and_ban", "reason": WHY}, follow=True)
        said[case] = [str(message) for message in answer.context["messages"]]
    assert said == {
        late: [f"{late.batch.uuid}: This submission was already decided."],
        timely: ["The submission of New was rejected.", "Its submitter is banned from this benchmark."],
    }


@pytest.mark.parametrize("state", ["pending", "rejected"])
def test_a_submitter_takes_back_the_same_way(make, state):
    first, second = Case(make, state), Case(make, state)
    refused, _ = by_page(first, "retract", WHY, first.submitter)
    assert by_program(second, "retract", WHY, second.submitter, several=False) == refused
    assert first.outcome() == second.outcome()
    assert bool(refused) == (state == "rejected")


def test_nobody_else_takes_it_back(make):
    first, second = Case(make, "pending"), Case(make, "pending")
    before = first.outcome()
    assert by_page(first, "retract", WHY, first.owner)[1] == 403
    messages = by_program(second, "retract", WHY, second.owner, several=False)
    assert messages == ["This submission belongs to someone else."]
    assert first.outcome() == second.outcome() == before


def test_both_decide_about_as_many_at_once(make):
    case = Case(make, "pending")
    numbers = [str(case.batch.uuid)] * 101
    page = signed_in(case.owner).post(
        reverse("manage_queue", args=[case.benchmark.key]), {"action": "accept", "batch": numbers}
    )
    program = post(
        case.owner, f"benchmarks/{case.benchmark.key}/decisions/", {"submissions": numbers, "decision": "accept"}
    )
    assert (page.status_code, program.status_code) == (400, 400)
    assert case.outcome()["state"] == "pending"
