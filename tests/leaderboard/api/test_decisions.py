"""What a program is told before it decides, and what it deletes for good."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.models import ApiToken, Batch, Benchmark, Score, Submission, User
from leaderboard.submissions.lifecycle import accept_batch, withdraw_submission
from leaderboard.submissions.moderation.decisions import review
from ranking_engine import RULES
from tests.leaderboard.api.conftest import error_of

SURE = {"reason": "A request.", "is_sure": True}


@pytest.fixture(scope="module")
def moderated(make_once):
    return make_once.published({"A": [1.0, 1.0], "B": [2.0, 2.0]}, submission_policy="moderated")


@pytest.fixture
def benchmark(moderated, make):
    """The moderated one as it is in the database."""
    return make.publish(moderated)


@pytest.fixture
def owner(benchmark):
    return benchmark.memberships.get(role="owner").user


def dry(api, owner, path, body=None):
    answer = api.as_user(owner).post(path, body or {"reason": "Because."}, query="dry_run=true")
    assert answer.status_code == 200, answer.content
    return {rule["rule"]: rule for rule in answer.json()["rules"]}


def moves(rule):
    return {move["name"]: (move["before"], move["after"]) for move in rule["changes"]}


def test_a_dry_run_of_accepting_tells_the_rank_changes_that_the_queue_shows(make, api, benchmark, owner):
    batch = make.pending(benchmark, {"C": [3.0, 1.5]}, by=make.user())
    rules = dry(api, owner, f"submissions/{batch.uuid}/accept/")
    assert moves(rules["mean"]) == {"C": (None, 1), "B": (1, 2), "A": (2, 3)}
    assert (rules["mean"]["winners_before"], rules["mean"]["winners_after"]) == (["B"], ["C"])
    effects = {effect.rule_name: effect for effect in review(Batch.objects.get(pk=batch.pk)).effects}
    assert effects.keys() == {RULES[key].name for key in rules}
    for key, rule in rules.items():
        n_arrived = sum(move["system"] is None for move in rule["changes"])
        assert rule["n_changes"] - n_arrived == effects[RULES[key].name].n_ranks_changed
    assert batch.submissions.get().state == "pending"


def test_a_dry_run_of_several_tells_what_all_of_them_would_change(make, api, benchmark, owner):
    batches = [make.pending(benchmark, {name: [value] * 2}, by=make.user()) for name, value in (("C", 3), ("D", 4))]
    body = {"submissions": [str(batch.uuid) for batch in batches], "decision": "accept"}
    rules = dry(api, owner, f"benchmarks/{benchmark.key}/decisions/", body)
    assert moves(rules["mean"]) == {"D": (None, 1), "C": (None, 2), "B": (1, 3), "A": (2, 4)}
    body |= {"decision": "reject", "reason": "No."}
    assert dry(api, owner, f"benchmarks/{benchmark.key}/decisions/", body) == {}


def test_a_dry_run_of_withdrawing_and_reinstating_tells_them_too(make, api, benchmark, owner):
    make.accepted(benchmark, {"C": [3.0, 3.0]})
    submission = Submission.objects.get(system__name="C")
    path = f"submissions/{submission.uuid}"
    assert moves(dry(api, owner, f"{path}/withdraw/")["mean"]) == {"B": (2, 1), "A": (3, 2), "C": (1, None)}
    withdraw_submission(submission, actor=owner, reason="Wrong.")
    assert moves(dry(api, owner, f"{path}/reinstate/")["mean"]) == {"C": (None, 1), "B": (1, 2), "A": (2, 3)}
    assert Submission.objects.get(system__name="C").state == "withdrawn"


def test_where_the_board_is_too_large_a_dry_run_says_so_by_null(make, api, benchmark, owner, settings):
    settings.ON_DEMAND_BUDGET = 1
    batch = make.pending(benchmark, {"C": [3.0, 1.5]}, by=make.user())
    answer = api.as_user(owner).post(f"submissions/{batch.uuid}/accept/", {}, query="dry_run=true")
    assert (answer.status_code, answer.json()["rules"]) == (200, None)


def test_a_decision_itself_tells_where_the_submission_stands_and_no_more(make, api, benchmark, owner):
    batch = make.pending(benchmark, {"C": [3.0, 1.5]}, by=make.user())
    answer = api.as_user(owner).post(f"submissions/{batch.uuid}/accept/", {})
    assert (answer.json()["state"], "rules" in answer.json()) == ("accepted", False)


def test_an_owner_takes_scores_down_and_is_told_before_what_goes(make, api, benchmark, owner):
    submission = Submission.objects.get(system__name="A")
    path = f"submissions/{submission.uuid}/take-down/"
    consequences = {
        "n_scores": 2,
        "held_at": "revision 1",
        "revision": 2,
        "releases": [],
        "n_drafts": 0,
        "n_vectors": 0,
    }
    answer = api.as_user(owner).post(path, SURE, query="dry_run=true")
    assert answer.json() == consequences | {"submission": str(submission.uuid)}
    assert Score.objects.exclude(value=None).count() == 4
    assert api.as_user(owner).post(path, SURE).json() == consequences | {"submission": str(submission.uuid)}
    assert set(Score.objects.filter(submission=submission).values_list("value", "missing_reason")) == {
        (None, "withdrawn")
    }
    assert api.get(f"benchmarks/{benchmark.key}/scores/", {"revision": 1}).status_code == 410
    assert api.as_user(owner).post(path, SURE).status_code == 409


def test_nothing_is_deleted_for_good_by_a_call_that_is_not_sure(api, benchmark, owner):
    submission = Submission.objects.get(system__name="A")
    for body in ({"reason": "A request."}, {"is_sure": True}, SURE | {"is_sure": "true"}):
        assert api.as_user(owner).post(f"submissions/{submission.uuid}/take-down/", body).status_code == 400
    assert Score.objects.exclude(value=None).count() == 4


def test_an_account_is_closed_by_whoever_has_its_password_and_not_by_a_token_alone(make, api):
    user = make.user()
    user.set_password("a long password")
    user.save()
    asker = api.as_user(user)
    wrong = asker.post("account/close/", {"password": "another", "is_sure": True})
    assert (wrong.status_code, error_of(wrong)["code"]) == (403, "forbidden")
    right = {"password": "a long password", "is_sure": True}
    assert asker.post("account/close/", right, query="dry_run=true").json() == {"closed": True}
    assert User.objects.get(pk=user.pk).is_active
    assert asker.post("account/close/", right).json() == {"closed": True}
    assert (User.objects.get(pk=user.pk).shown_name, ApiToken.objects.count()) == ("former member", 0)
    assert asker.get("benchmarks/").status_code == 401


def test_the_last_owner_of_a_benchmark_cannot_close_their_account(api, benchmark, owner):
    owner.set_password("a long password")
    owner.save()
    answer = api.as_user(owner).post("account/close/", {"password": "a long password", "is_sure": True})
    assert answer.status_code == 409
    assert "You are the only owner of" in error_of(answer)["message"]


def test_passwords_are_not_guessed_by_a_token_that_was_found(make, api):
    asker = api.as_user(make.user())
    answers = [asker.post("account/close/", {"password": str(n), "is_sure": True}) for n in range(6)]
    assert [answer.status_code for answer in answers] == [403] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) > 0


def withdrawal(api, user, submission, **options):
    return api.as_user(user).post(f"submissions/{submission.uuid}/withdraw-own/", {"reason": "Leaked."}, **options)


@pytest.fixture
def own(make, benchmark):
    """Accepted scores of a submitter, who is no moderator, with another system in the same upload."""
    batch = make.pending(benchmark, {"C": [3.0, 3.0], "D": [0.0, 0.0]}, by=make.user("submitter"))
    accept_batch(batch, actor=benchmark.memberships.get(role="owner").user)
    return batch.submissions.get(system__name="C")


def test_a_submitter_withdraws_scores_of_one_system_where_the_owners_allow_it(api, own):
    dry_run = withdrawal(api, own.batch.uploader, own, query="dry_run=true").json()
    mean = next(rule for rule in dry_run["rules"] if rule["rule"] == "mean")
    assert moves(mean) == {"B": (2, 1), "A": (3, 2), "D": (4, 3), "C": (1, None)}
    assert Submission.objects.get(pk=own.pk).state == "accepted"
    answer = withdrawal(api, own.batch.uploader, own).json()
    assert {row["name"]: row["state"] for row in answer["systems"]} == {"C": "withdrawn", "D": "accepted"}
    again = withdrawal(api, own.batch.uploader, own)
    assert (again.status_code, error_of(again)["message"]) == (409, "This submission is no longer accepted.")


@pytest.mark.parametrize(
    "hiding", [{"score_view": "own"}, {"score_view": "ranks"}, {"anonymous_until": timezone.now() + timedelta(days=1)}]
)
def test_where_names_or_scores_are_hidden_a_dry_run_says_nothing_of_others(api, benchmark, own, hiding):
    Benchmark.objects.filter(pk=benchmark.pk).update(**hiding)
    answer = withdrawal(api, own.batch.uploader, own, query="dry_run=true")
    assert (answer.status_code, answer.json()["rules"]) == (200, [])


def test_elsewhere_a_submitter_asks_once_and_moderators_list_decline_or_grant_it(api, benchmark, owner, own):
    Benchmark.objects.filter(pk=benchmark.pk).update(submitters_withdraw=False)
    submitter, listed = own.batch.uploader, f"benchmarks/{benchmark.key}/withdrawal-requests/"
    answer = withdrawal(api, submitter, own).json()
    assert {row["name"]: row["state"] for row in answer["systems"]} == {"C": "accepted", "D": "accepted"}
    assert (answer["events"][-1]["text"], answer["events"][-1]["reason"]) == ("withdrawal requested", "Leaked.")
    assert withdrawal(api, submitter, own).status_code == 409
    [request] = api.as_user(owner).get(listed).json()["results"]
    expected = {"submission": str(own.uuid), "name": "C", "asked_by": submitter.shown_name, "reason": "Leaked."}
    assert {name: request[name] for name in expected} == expected
    declined = api.as_user(owner).post(f"submissions/{own.uuid}/keep/", {"reason": "It did not."})
    assert (declined.status_code, declined.json()["events"][-1]["reason"]) == (200, "It did not.")
    assert api.as_user(owner).get(listed).json() == {"results": []}
    assert api.as_user(owner).post(f"submissions/{own.uuid}/keep/", {"reason": "Twice."}).status_code == 409
    assert withdrawal(api, submitter, own).status_code == 200
    cancelled = api.as_user(submitter).post(f"submissions/{own.uuid}/withdraw-own/cancel/", {})
    assert cancelled.json()["events"][-1]["text"] == "withdrawal request cancelled"
    assert api.as_user(owner).get(listed).json() == {"results": []}
    again = api.as_user(submitter).post(f"submissions/{own.uuid}/withdraw-own/cancel/", {})
    message = "There is no open request to withdraw these scores."
    assert (again.status_code, error_of(again)["message"]) == (409, message)
    assert withdrawal(api, submitter, own).status_code == 200
    granted = api.as_user(owner).post(f"submissions/{own.uuid}/withdraw/", {"reason": "It did."})
    assert {row["name"]: row["state"] for row in granted.json()["systems"]} == {"C": "withdrawn", "D": "accepted"}
    assert api.as_user(owner).get(listed).json() == {"results": []}


def test_of_several_systems_one_has_to_be_named_and_a_reason_be_given(api, own):
    asking, batch = api.as_user(own.batch.uploader), own.batch
    refused = asking.post(f"submissions/{batch.uuid}/withdraw-own/", {"reason": "Leaked."})
    assert (refused.status_code, "name one of them" in error_of(refused)["message"]) == (409, True)
    for body in ({}, {"reason": ""}, {"reason": "x" * 100_000}, {"reason": 1}):
        assert asking.post(f"submissions/{own.uuid}/withdraw-own/", body).status_code == 400
    assert set(batch.submissions.values_list("state", flat=True)) == {"accepted"}


def test_the_requests_of_a_board_take_as_many_queries_as_one(make, api, benchmark, owner):
    Benchmark.objects.filter(pk=benchmark.pk).update(submitters_withdraw=False)
    submitter, moderator, counts = make.user("submitter"), api.as_user(owner), []
    for n in range(3):
        batch = make.pending(benchmark, {f"New {n}": [1.0, 1.0]}, by=submitter)
        accept_batch(batch, actor=owner)
        withdrawal(api, submitter, batch.submissions.get())
        with CaptureQueriesContext(connection) as queries:
            answer = moderator.get(f"benchmarks/{benchmark.key}/withdrawal-requests/")
        assert [row["name"] for row in answer.json()["results"]] == [f"New {k}" for k in range(n + 1)]
        counts.append(len(queries))
    assert counts[1] == counts[2]  # the first time the token is noted as used
