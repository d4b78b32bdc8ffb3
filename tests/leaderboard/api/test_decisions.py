"""What a program is told before it decides, and what it deletes for good."""

import pytest

from leaderboard.models import ApiToken, Batch, Score, Submission, User
from leaderboard.submissions.lifecycle import withdraw_submission
from leaderboard.submissions.moderation.decisions import review
from ranking_engine import RULES
from tests.leaderboard.api.conftest import error_of

SURE = {"reason": "A request.", "is_sure": True}


@pytest.fixture
def benchmark(make):
    return make.published({"A": [1.0, 1.0], "B": [2.0, 2.0]}, submission_policy="moderated")


@pytest.fixture
def owner(benchmark):
    return benchmark.memberships.get(role="owner").user


def dry(api, owner, path, body=None):
    found = api.as_user(owner).post(path, body or {"reason": "Because."}, query="dry_run=true")
    assert found.status_code == 200, found.content
    return {rule["rule"]: rule for rule in found.json()["rules"]}


def moves(rule):
    return {move["name"]: (move["before"], move["after"]) for move in rule["changes"]}


def test_a_dry_run_of_accepting_tells_the_rank_changes_that_the_queue_shows(make, api, benchmark, owner):
    batch = make.pending(benchmark, {"C": [3.0, 1.5]}, by=make.user())
    rules = dry(api, owner, f"submissions/{batch.uuid}/accept/")
    assert moves(rules["mean"]) == {"C": (None, 1), "B": (1, 2), "A": (2, 3)}
    assert (rules["mean"]["winners_before"], rules["mean"]["winners_after"]) == (["B"], ["C"])
    shown = {effect.rule_name: effect for effect in review(Batch.objects.get(pk=batch.pk)).effects}
    assert shown.keys() == {RULES[key].name for key in rules}
    for key, rule in rules.items():
        n_arrived = sum(move["system"] is None for move in rule["changes"])
        assert rule["n_changes"] - n_arrived == shown[RULES[key].name].n_ranks_changed
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
    found = api.as_user(owner).post(f"submissions/{batch.uuid}/accept/", {}, query="dry_run=true")
    assert (found.status_code, found.json()["rules"]) == (200, None)


def test_a_decision_itself_tells_where_the_submission_stands_and_no_more(make, api, benchmark, owner):
    batch = make.pending(benchmark, {"C": [3.0, 1.5]}, by=make.user())
    found = api.as_user(owner).post(f"submissions/{batch.uuid}/accept/", {})
    assert (found.json()["state"], "rules" in found.json()) == ("accepted", False)


def test_an_owner_takes_scores_down_and_is_told_before_what_goes(make, api, benchmark, owner):
    submission = Submission.objects.get(system__name="A")
    path = f"submissions/{submission.uuid}/take-down/"
    told = {"n_scores": 2, "held_at": "revision 1", "revision": 2, "releases": [], "n_drafts": 0, "n_vectors": 0}
    found = api.as_user(owner).post(path, SURE, query="dry_run=true")
    assert found.json() == told | {"submission": str(submission.uuid)}
    assert Score.objects.exclude(value=None).count() == 4
    assert api.as_user(owner).post(path, SURE).json() == told | {"submission": str(submission.uuid)}
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
    found = api.as_user(owner).post("account/close/", {"password": "a long password", "is_sure": True})
    assert found.status_code == 409
    assert "You are the only owner of" in error_of(found)["message"]


def test_passwords_are_not_guessed_by_a_token_that_was_found(make, api):
    asker = api.as_user(make.user())
    answers = [asker.post("account/close/", {"password": str(n), "is_sure": True}) for n in range(6)]
    assert [answer.status_code for answer in answers] == [403] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) > 0
