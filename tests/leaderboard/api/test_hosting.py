"""Hosting by the API alone: a client made from the schema, dry runs, and what is refused."""

from decimal import Decimal

import pytest

from leaderboard.accounts.people import accept_invitation, find_invitation
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.announcements import announce
from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.models import AuditEntry, Benchmark, Invitation, Membership, Submission
from tests.factories import owner_of
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.api.generated_client import GeneratedClient
from tests.leaderboard.benchmarks.older_weights import SCORES, without_weight

NO_TASK = "At least one task needs a weight above 0."
NO_GROUP = "At least one task needs a weight above 0, and so does its group."
OF_GROUP = [{"name": "a", "group": "g"}, {"name": "b", "group": "g"}]
TWO = [{"name": "Reading"}, {"name": "Speed", "direction": -1, "unit": "ms"}]


def client_of(schema, user) -> GeneratedClient:
    _, secret = create_token(user, name=f"t{user.api_tokens.count()}", scopes=["read", "submit", "manage"], days=30)
    return GeneratedClient(schema, secret)


def test_a_client_made_from_the_schema_hosts_a_benchmark_from_its_tasks_to_its_ranking(make, schema):
    owner, submitter = make.user(), make.user()
    hosting, sending = client_of(schema, owner), client_of(schema, submitter)
    made = hosting.create_benchmark({"name": "Reading fast", "tasks": TWO, "submission_policy": "moderated"})
    key = made["key"]
    assert (key, made["last_revision"]) == ("reading-fast", 0)
    added = hosting.change_tasks({"tasks": [{"name": "Writing", "group": "Texts"}]}, key=key)
    assert {change["field"] for change in added["changes"]} >= {"name", "group"}
    assert [task["key"] for task in sending.tasks(key=key)["results"]] == ["reading", "speed", "writing"]

    rows = {"Swift": (70, 10, 60), "Slow": (90, 30, 80)}
    names = ("Reading", "Speed", "Writing")
    systems = [{"name": n, "scores": dict(zip(names, row, strict=True))} for n, row in rows.items()]
    body = {"systems": systems, "create_systems": True}
    sent = sending.submit(body, key=key, **{"Idempotency-Key": "first"})
    assert (sent["state"], hosting.queue(key=key)["n_waiting"]) == ("pending", 1)
    decided = hosting.decide({"submissions": [sent["uuid"]], "decision": "accept", "reason": "Checked."}, key=key)
    assert decided == {"n_decided": 1, "refused": []}
    make.publish(Benchmark.objects.get(key=key))

    ranking = sending.ranking(key=key, rule="borda")
    assert [(row["system"], row["rank"]) for row in ranking["results"]] == [("slow", 1), ("swift", 2)]
    assert sending.ranking(key=key, rule="borda", q="SWI", top=5)["results"][0]["name"] == "Swift"
    assert sending.ranking(key=key, rule="borda", top=1)["results"][0]["name"] == "Slow"

    heavier = {"tasks": [{"key": "speed", "weight": "5"}], "reason": "Speed matters."}
    tried = hosting.change_tasks(heavier, key=key, dry_run=True)
    moved = {rule["rule"]: rule["winner_after"] for rule in tried["rules"]}
    assert (moved["Borda"], tried["revision"]) == ("Swift", None)
    assert hosting.change_tasks(heavier, key=key)["revision"] == 2
    make.publish(Benchmark.objects.get(key=key))
    assert sending.ranking(key=key, rule="borda")["results"][0]["system"] == "swift"
    frozen = hosting.freeze({"revision": 2, "name": "2026.1"}, key=key)
    assert sending.releases(key=key)["results"] == [frozen]
    trail = hosting.audit(key=key)["results"]
    reasons = [line["reason"] for line in trail if (line["field"], line["after"]) == ("weight", "5")]
    assert reasons == ["Speed matters."]


def test_variants_of_rules_are_added_read_and_taken_away(make, schema):
    hosting = client_of(schema, make.user())
    lower, points = "copeland[variant=lower]", "positional[vector=3,2]"
    made = hosting.create_benchmark({"name": "Reading fast", "tasks": TWO, "variants": [lower]})
    assert made["variants"] == [lower]
    assert [made[name] for name in ("n_systems", "n_tasks", "n_voting_tasks", "n_missing")] == [0, 2, 2, 0]
    systems = [{"name": name, "scores": {"Reading": 1, "Speed": 2}} for name in ("Swift", "Slow")]
    hosting.submit({"systems": systems, "create_systems": True}, key=made["key"], **{"Idempotency-Key": "first"})
    hosting.change_settings({"submission_policy": "open"}, key=made["key"])
    make.publish(Benchmark.objects.get(key=made["key"]))
    more = hosting.change_tasks({"variants": [lower, points], "reason": "As at the contest."}, key=made["key"])
    assert [(change["of"], change["before"], change["after"]) for change in more["changes"]] == [
        ("variants", lower, f"{points}, {lower}")
    ]
    assert hosting.change_tasks({"variants": []}, key=made["key"])["changes"][0]["after"] == ""
    assert hosting.benchmark(key=made["key"])["variants"] == []


@pytest.mark.parametrize("rule", ["kemeny", "copeland[variant=lower]"])
def test_a_benchmark_is_created_with_any_default_rule_that_settings_take(make, schema, rule):
    hosting = client_of(schema, make.user())
    body = {"name": "Reading fast", "tasks": TWO, "default_rule": rule, "variants": ["copeland[variant=lower]"]}
    made = hosting.create_benchmark(body)
    kept = hosting.change_settings({"default_rule": rule}, key=made["key"])
    assert [answer["default_rule"] for answer in (made, kept)] == [rule, rule]


def test_moderators_do_not_choose_variants(make, api):
    benchmark = make.benchmark()
    moderator = api.as_user(make.member(benchmark, "moderator"))
    answer = error_of(moderator.patch(f"benchmarks/{benchmark.key}/tasks/", {"variants": ["borda[ties=best]"]}))
    assert answer["status"] == 403
    assert Benchmark.objects.get(pk=benchmark.pk).variants == []


def test_precision_and_cluster_of_a_task_are_made_read_and_changed(make, schema):
    hosting = client_of(schema, make.user())
    tasks = [{"name": "Reading", "precision": "0.10", "cluster": "Texts"}, {"name": "Speed", "precision": "5"}]
    key = hosting.create_benchmark({"name": "Reading fast", "tasks": tasks})["key"]
    pairs = [(task["precision"], task["cluster"]) for task in hosting.tasks(key=key)["results"]]
    assert pairs == [("0.1", "Texts"), ("5", "")]
    body = {"tasks": [{"key": "reading", "precision": None, "cluster": None}, {"key": "speed", "cluster": "Times"}]}
    changes = hosting.change_tasks(body, key=key)["changes"]
    assert [(change["of"], change["field"], change["before"], change["after"]) for change in changes] == [
        ("reading", "precision", "0.1", ""), ("reading", "cluster", "Texts", ""), ("speed", "cluster", "", "Times"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("change_settings", {"description": "Other."}),
        ("archive_benchmark", {"archived": True}),
        ("create_edition", {"name": "Second"}),
        ("invite", {"role": "member"}),
        ("change_tasks", {"tasks": [{"name": "New"}]}),
    ],
)
def test_a_dry_run_answers_as_the_step_would_and_stores_nothing(make, schema, operation, body):
    benchmark = make.benchmark()
    hosting = client_of(schema, benchmark.memberships.get().user)
    counted = (Benchmark, AuditEntry, Invitation, Membership)
    before = [model.objects.count() for model in counted], Benchmark.objects.values().get(pk=benchmark.pk)
    getattr(hosting, operation)(body, key=benchmark.key, dry_run=True)
    assert before == ([model.objects.count() for model in counted], Benchmark.objects.values().get(pk=benchmark.pk))
    getattr(hosting, operation)(body, key=benchmark.key)
    assert before[0] != [model.objects.count() for model in counted]


def test_the_time_for_a_decision_is_set_as_on_the_page(make, schema, api):
    benchmark = make.benchmark()
    owner = benchmark.memberships.get().user
    answer = client_of(schema, owner).change_settings({"decision_days": 3, "rejects_overdue": True}, key=benchmark.key)
    assert (answer["decision_days"], answer["rejects_overdue"], answer["n_changed"]) == (3, True, 2)
    for wrong in ({"decision_days": 0}, {"decision_days": "3"}, {"decision_days": None}, {"rejects_overdue": 1}):
        refused = api.as_user(owner, "manage").patch(f"benchmarks/{benchmark.key}/", wrong)
        assert (refused.status_code, next(iter(wrong)) in str(error_of(refused)["details"])) == (400, True)


def test_a_dry_run_of_a_decision_tells_the_state_it_would_lead_to(make, api):
    benchmark = make.benchmark(submission_policy="moderated")
    waiting = make.pending(benchmark, {"New": [1.0] * 5}, by=make.user())
    asking = api.as_user(benchmark.memberships.get().user)
    assert asking.post(f"submissions/{waiting.uuid}/accept/", {}, query="dry_run=true").json()["state"] == "accepted"
    assert waiting.submissions.get().state == Submission.State.PENDING


def test_withdrawn_scores_are_reinstated_and_what_waits_is_taken_back_by_its_submitter_alone(make, api):
    benchmark, submitter = make.benchmark(), make.user()
    owner = benchmark.memberships.get().user
    waiting = make.pending(benchmark, {"New": [1.0] * 5}, by=submitter)
    assert api.as_user(owner).post(f"submissions/{waiting.uuid}/retract/").status_code == 403
    assert api.as_user(submitter).post(f"submissions/{waiting.uuid}/retract/").json()["state"] == "retracted"
    accepted = benchmark.batches.earliest("pk").submissions.earliest("pk")
    asking, reason = api.as_user(owner), {"reason": "Measured anew."}
    assert asking.post(f"submissions/{accepted.uuid}/reinstate/", reason).status_code == 409
    for step, state in (("withdraw", "withdrawn"), ("reinstate", "accepted")):
        systems = asking.post(f"submissions/{accepted.uuid}/{step}/", reason).json()["systems"]
        assert [row["state"] for row in systems if row["submission"] == str(accepted.uuid)] == [state]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"tasks": TWO}, "name"),
        ({"name": "A"}, "tasks"),
        ({"name": "A", "tasks": []}, "tasks"),
        ({"name": "A", "tasks": [{"name": "T", "weight": "-1"}]}, "tasks[0].weight"),
        ({"name": "A", "tasks": [{"name": "T", "direction": True}]}, "tasks[0].direction"),
        ({"name": "A", "tasks": [{"name": "T", "precision": "0"}]}, "tasks[0].precision"),
        ({"name": "A", "tasks": [{"name": "T", "precision": "1e-9999999"}]}, "tasks[0].precision"),
        ({"name": "A", "tasks": [{"name": "T", "precision": []}]}, "tasks[0].precision"),
        ({"name": "A", "tasks": [{"name": "T", "precision": "1.234567890123"}]}, "tasks[0].precision"),
        ({"name": "A", "tasks": [{"name": "T", "cluster": 1}]}, "tasks[0].cluster"),
        ({"name": "A", "tasks": [{"name": "T"}, {"name": "t"}]}, "tasks[1].name"),
        ({"name": "A", "tasks": TWO, "deadline": "tomorrow"}, "deadline"),
        ({"name": "A", "tasks": TWO, "deadline": "2026-12-31T12:00:00"}, "deadline"),
        ({"name": "A", "tasks": TWO, "daily_cap": -1}, "daily_cap"),
        ({"name": "A", "tasks": TWO, "key": "Not a key"}, "key"),
        ({"name": "A", "tasks": TWO, "default_rule": "no-such-rule"}, "default_rule"),
        ({"name": "A", "tasks": TWO, "tags": "nlp"}, "tags"),
        ({"name": "A", "tasks": TWO, "owner": 1}, "owner"),
        ({"name": "=A", "tasks": TWO}, "name"),
        ({"name": "A", "tasks": TWO, "variants": "copeland[variant=lower]"}, "variants"),
        ({"name": "A", "tasks": TWO, "variants": ["copeland[variant=lower]"] * 10_000}, "variants"),
        ({"name": "A", "tasks": TWO, "variants": ["copeland[variant=most]"]}, "variants"),
        ({"name": "A", "tasks": TWO, "variants": ["9" * 201]}, "variants[0]"),
    ],
)
def test_a_benchmark_that_cannot_be_stored_is_an_error_that_says_where(make, api, body, place):
    answer = error_of(api.as_user(make.user()).post("benchmarks/", body))
    assert (answer["status"], answer["details"][0].get("place")) == (400, place)
    assert not Benchmark.objects.exists()


def test_the_last_owner_keeps_the_benchmark_and_strangers_are_not_told_apart(make, api):
    benchmark, stranger = make.benchmark(), make.user()
    owner = benchmark.memberships.get().user
    asking = api.as_user(owner)
    path = f"benchmarks/{benchmark.key}/people"
    assert asking.post(f"{path}/{owner.pk}/", {"role": None}).status_code == 409
    there, nowhere = (asking.post(f"{path}/{n}/", {"role": "member"}) for n in (stranger.pk, 2**31 - 5))
    assert (there.status_code, there.content) == (404, nowhere.content)
    member = make.member(benchmark, "member")
    assert asking.post(f"{path}/{member.pk}/", {"role": "moderator"}).json()["role"] == "moderator"


def test_a_benchmark_is_handed_over_by_an_invitation_of_an_owner_and_announcements_are_told(make, api):
    benchmark, heir = make.benchmark(), make.user()
    owner = benchmark.memberships.get().user
    announce(benchmark, "Round two is open.", author=owner)
    asking, path = api.as_user(owner), f"benchmarks/{benchmark.key}/"
    assert asking.post(f"{path}invitations/", {"role": "member", "hands_over": True}).status_code == 409
    made = asking.post(f"{path}invitations/", {"role": "owner", "hands_over": True}).json()
    assert [one["hands_over"] for one in asking.get(f"{path}people/").json()["invitations"]] == [True]
    accept_invitation(find_invitation(made["url"].split("/")[-2]), heir)
    assert dict(benchmark.memberships.values_list("user", "role")) == {heir.pk: "owner", owner.pk: "member"}
    assert [one["text"] for one in api.get(path).json()["announcements"]] == ["Round two is open."]


def test_pages_of_a_ranking_make_up_the_whole(make, api):
    benchmark = make.published({f"S{i}": [float(i % 7), float(i)] for i in range(25)}, n_tasks=2)
    path = f"benchmarks/{benchmark.key}/rankings/borda/"
    whole = [row["system"] for row in api.get(path).json()["results"]]
    names, url = [], f"/api/v1/{path}?page_size=10"
    while url:
        page = api.get(url).json()
        names, url = names + [row["system"] for row in page["results"]], page["next"]
    assert (names, len(names)) == (whole, 25)


@pytest.mark.parametrize("query", ["", "dry_run=true"])
@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ({"tasks": [{"name": "a", "weight": -0.0}, {"name": "b", "weight": 0}]}, "tasks[0].weight", NO_TASK),
        ({"tasks": OF_GROUP, "groups": [{"name": "g", "weight": "0"}]}, "groups[0].weight", NO_GROUP),
    ],
)
def test_no_benchmark_is_made_with_weights_of_which_none_is_above_0(api, make, query, body, place, message):
    answer = api.as_user(make.user()).post("benchmarks/", {"name": "Weights"} | body, query=query)
    assert answer.status_code == 400
    assert error_of(answer)["details"] == [{"place": place, "message": message}]
    assert not Benchmark.objects.exists()


def test_one_task_of_weight_0_beside_others_is_stored_and_minus_0_is_0(api, make):
    tasks = [{"name": "a", "weight": -0.0}, {"name": "b", "weight": "-0.0"}, {"name": "c"}]
    owner = api.as_user(make.user())
    assert owner.post("benchmarks/", {"name": "Weights", "tasks": tasks}).status_code == 201
    stored = owner.get("benchmarks/weights/tasks/").json()["results"]
    assert [task["weight"] for task in stored] == ["0", "0", "1"]


@pytest.mark.parametrize("query", ["", "dry_run=true"])
def test_no_change_leads_to_weights_of_which_none_is_above_0(api, make, query):
    tasks = [TaskSpec("a", group="g1"), TaskSpec("b", group="g2")]
    groups = [GroupSpec("g1"), GroupSpec("g2", Decimal(2))]
    benchmark = make.benchmark(SCORES, tasks=tasks, groups=groups, aggregation="balanced")
    owner, path = api.as_user(owner_of(benchmark)), f"benchmarks/{benchmark.key}/tasks/"
    for body, place, message in (
        ({"groups": [{"key": "g2", "weight": "0"}], "tasks": [{"key": "a", "weight": "0"}]}, "groups[1]", NO_GROUP),
        ({"tasks": [{"key": "a", "is_archived": True}, {"key": "b", "weight": "0"}]}, "tasks[1]", NO_TASK),
    ):
        answer = owner.patch(path, body, query=query)
        assert answer.status_code == 400
        assert error_of(answer)["details"] == [{"place": f"{place}.weight", "message": message}]
    assert benchmark.revisions.count() == 1


def test_a_benchmark_from_before_has_no_further_edition_until_its_weights_are_mended(api, make):
    benchmark = without_weight(make)
    owner, path = api.as_user(owner_of(benchmark)), f"benchmarks/{benchmark.key}/"
    answer = owner.post(f"{path}editions/", {"name": "Again"})
    assert (answer.status_code, error_of(answer)["details"]) == (400, [{"message": NO_TASK}])
    assert owner.patch(f"{path}tasks/", {"tasks": [{"key": "b", "weight": "2"}]}).json()["revision"] == 2
    assert owner.post(f"{path}editions/", {"name": "Again"}).status_code == 201
