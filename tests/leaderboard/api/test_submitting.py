"""Scores sent by a program: taken whole or not at all, once, with an error that says where."""

import json

import pytest

from leaderboard.models import Revision, Submission
from tests.factories import TOY
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.api.engine_figures import figures, response_figures
from tests.leaderboard.api.uploads import body, path_of, scores, stored

# --- What is taken ---------------------------------------------------------------------------------------------------


def test_one_new_system_becomes_the_next_revision_and_its_board(make, api, benchmark, submitter):
    new = {"name": "E", "organisation": "Magrathea", "url": "https://e.example/", "scores": scores(9, 0.1, -1, 5, None)}
    response = submitter.post(path_of(benchmark), body(new, note="Five runs.", create_systems=True))
    assert response.status_code == 201
    submission = response.json()
    assert (submission["state"], submission["revision"], submission["note"], submission["source"]) == (
        "accepted",
        2,
        "Five runs.",
        "api",
    )
    assert [(row["system"], row["name"], row["state"]) for row in submission["systems"]] == [("e", "E", "accepted")]
    assert response["Location"] == submission["url"] == f"http://testserver/api/v1/submissions/{submission['uuid']}/"
    make.publish(benchmark)
    later = submitter.get(f"submissions/{submission['uuid']}/").json()
    assert (later["state"], later["published_revision"]) == ("published", 2)
    expected = TOY | {"E": [9, 0.1, -1, 5, None]}
    for rule in ("mean", "borda", "copeland"):
        assert response_figures(api.get(f"benchmarks/{benchmark.key}/rankings/{rule}/")) == figures(expected, rule)
    system = api.get(f"benchmarks/{benchmark.key}/systems/e/").json()
    assert (system["organisation"], system["url"]) == ("Magrathea", "https://e.example/")
    assert system["scores"]["task-2"]["value"] == 0.1
    assert system["scores"]["task-5"]["missing"] == "not_reported"


def test_many_systems_by_name_and_key_and_tasks_by_name_and_key(make, benchmark, api):
    owner = api.as_user(benchmark.memberships.get().user)
    sent = body(
        {"name": "  a ", "scores": {"TASK 1": 1, "task-2": 2}},
        {"key": "b", "scores": scores(3)},
        {"name": "New one", "key": "the-new-one", "scores": scores(4)},
        create_systems=True,
    )
    assert owner.post(path_of(benchmark), sent).status_code == 201
    make.publish(benchmark)
    rows = {row["system"]: row["scores"] for row in api.get(f"benchmarks/{benchmark.key}/scores/").json()["results"]}
    assert list(rows) == ["a", "b", "c", "d", "the-new-one"]
    assert [rows["a"][task]["value"] for task in ("task-1", "task-2", "task-3")] == [1.0, 2.0, None]
    assert rows["a"]["task-3"]["missing"] == "not_submitted"
    assert rows["b"]["task-1"]["value"] == 3.0


def test_a_table_is_taken_too(make, api, benchmark):
    owner = api.as_user(benchmark.memberships.get().user)
    table = "system,Task 2,task-1\nA,1.5,\nE,2,0.1\n".encode("utf-8-sig")
    response = owner.post(path_of(benchmark), table, kind="text/csv", query="create_systems=true&note=Hello")
    assert response.status_code == 201
    assert (response.json()["source"], response.json()["note"]) == ("csv", "Hello")
    make.publish(benchmark)
    rows = {row["system"]: row["scores"] for row in api.get(f"benchmarks/{benchmark.key}/scores/").json()["results"]}
    assert (rows["a"]["task-2"]["value"], rows["a"]["task-1"]["missing"]) == (1.5, "not_reported")
    assert rows["e"]["task-1"]["value"] == 0.1


def test_what_is_downloaded_uploads_again_to_the_same_matrix(make, api, benchmark):
    owner = api.as_user(benchmark.memberships.get().user)
    make.publish(benchmark)
    before = api.get(f"benchmarks/{benchmark.key}/scores/?format=csv").content
    assert owner.post(path_of(benchmark), before, kind="text/csv; charset=utf-8").status_code == 201
    make.publish(benchmark)
    response = api.get(f"benchmarks/{benchmark.key}/scores/?format=csv")
    assert response.content == before
    hashes = {r["input_hash"] for r in api.get(f"benchmarks/{benchmark.key}/revisions/").json()["results"]}
    assert len(hashes) == 1


def test_where_a_moderator_decides_it_waits(make, api):
    benchmark = make.published(submission_policy="moderated")
    moderator = api.as_user(make.member(benchmark, "moderator"), "manage")
    sender = api.as_user(make.user("Ada"), "submit")
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    uuid = sender.post(path_of(benchmark), sent).json()["uuid"]
    assert sender.get(f"submissions/{uuid}/").json()["state"] == "pending"
    assert api.get(f"submissions/{uuid}/").status_code == 404
    accepted = moderator.post(f"submissions/{uuid}/accept/", {"reason": "Fine."}).json()
    assert (accepted["state"], accepted["revision"]) == ("accepted", 2)
    assert error_of(moderator.post(f"submissions/{uuid}/accept/"))["status"] == 409
    assert error_of(moderator.post(f"submissions/{uuid}/reject/", {"reason": "No."}))["status"] == 409
    second = sender.post(path_of(benchmark), sent).json()["uuid"]
    assert error_of(moderator.post(f"submissions/{second}/reject/"))["details"] == [
        {"place": "reason", "message": "it is missing; say why"}
    ]
    rejected = moderator.post(f"submissions/{second}/reject/", {"reason": "Twice."}).json()
    assert (rejected["state"], rejected["events"][-1]["reason"]) == ("rejected", "Twice.")
    assert moderator.post(f"submissions/{uuid}/withdraw/", {"reason": "An error."}).json()["systems"][0]["state"] == (
        "withdrawn"
    )
    assert Revision.objects.get(benchmark=benchmark, number=3).cause == "withdrawal"


def test_of_many_systems_one_is_withdrawn_by_its_own_number(make, api, benchmark):
    owner = api.as_user(benchmark.memberships.get().user)
    sent = body({"name": "E", "scores": scores(1)}, {"name": "F", "scores": scores(2)}, create_systems=True)
    submission = owner.post(path_of(benchmark), sent).json()
    assert error_of(owner.post(f"submissions/{submission['uuid']}/withdraw/", {"reason": "Wrong."}))["status"] == 409
    one = submission["systems"][1]["submission"]
    assert error_of(owner.post(f"submissions/{one}/accept/"))["status"] == 409
    after = owner.post(f"submissions/{one}/withdraw/", {"reason": "Wrong."}).json()
    assert [row["state"] for row in after["systems"]] == ["accepted", "withdrawn"]
    assert error_of(owner.post(f"submissions/{one}/withdraw/", {"reason": "Wrong."}))["status"] == 409
    make.publish(benchmark)
    systems = api.get(f"benchmarks/{benchmark.key}/systems/").json()["results"]
    assert [row["system"] for row in systems] == ["a", "b", "c", "d", "e"]


# --- A dry run -------------------------------------------------------------------------------------------------------


def test_a_dry_run_says_which_ranks_would_change_and_stores_nothing(make, api, benchmark):
    owner = api.as_user(benchmark.memberships.get().user)
    sent = body(
        {"name": "E", "scores": scores(9, 9, 9, 9, 9)},
        {"name": "A", "scores": scores(0, 0, 0, 0, 0)},
        create_systems=True,
    )
    before = stored()
    answer = owner.post(path_of(benchmark), sent, query="dry_run=true")
    preview = answer.json()
    assert (stored(), answer["Dry-Run"]) == (before, "true")
    assert (preview["dry_run"], preview["revision"], preview["would_be_accepted"]) == (True, 1, True)
    assert [(row["system"], row["name"], row["is_new"]) for row in preview["systems"]] == [
        (None, "E", True),
        ("a", "A", False),
    ]
    after = TOY | {"A": [0.0] * 5, "E": [9.0] * 5}
    for outcome in preview["rules"]:
        # 95 % of the maximum that all tasks state
        old, new = (figures(table, outcome["rule"], gamma=95.0) for table in (TOY, after))
        ranks = {row["name"].lower(): (row["before"], row["after"]) for row in outcome["changes"]}
        assert ranks == {
            name: (old.get(name, (None,))[0], new[name][0]) for name in new if old.get(name, (None,))[0] != new[name][0]
        }
        assert [name.lower() for name in outcome["winners_after"]] == [n for n, (r, _) in new.items() if r == 1]


def test_a_dry_run_names_the_systems_of_the_upload_that_would_have_no_rank_and_counts_no_change_for_them(
    make, api, benchmark
):
    owner = api.as_user(benchmark.memberships.get().user)
    sent = body({"name": "E", "scores": scores(9)}, create_systems=True)
    rules = owner.post(path_of(benchmark), sent, query="dry_run=true").json()["rules"]
    ranked = {rule["rule"] for rule in rules if any(change["name"] == "E" for change in rule["changes"])}
    assert {rule["rule"] for rule in rules if rule["unranked"] == ["E"]} == {rule["rule"] for rule in rules} - ranked
    assert "mean" not in ranked
    assert all(change["before"] != change["after"] for rule in rules for change in rule["changes"])
    assert all(rule["n_changes"] == len(rule["changes"]) for rule in rules)


def test_a_dry_run_of_the_very_first_scores(make, api):
    benchmark = make.benchmark({}, n_tasks=2)
    owner = api.as_user(benchmark.memberships.get().user)
    sent = body({"name": "A", "scores": scores(1, 2)}, create_systems=True)
    preview = owner.post(path_of(benchmark), sent, query="dry_run=true").json()
    assert preview["revision"] == 0
    assert {outcome["rule"]: outcome["winners_after"] for outcome in preview["rules"]}["borda"] == ["A"]


def test_a_dry_run_beyond_the_budget_is_refused(make, api, benchmark, submitter, settings):
    settings.ON_DEMAND_BUDGET = 10
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    assert error_of(submitter.post(path_of(benchmark), sent, query="dry_run=true"))["status"] == 422


# --- Once ------------------------------------------------------------------------------------------------------------


def test_the_same_key_and_body_give_the_first_answer_again(benchmark, submitter):
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    first = submitter.post(path_of(benchmark), sent, Idempotency_Key="k1")
    before = stored()
    again = submitter.post(path_of(benchmark), json.dumps(sent, indent=4), Idempotency_Key="k1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    other = submitter.post(path_of(benchmark), sent | {"note": "other"}, Idempotency_Key="k1")
    assert (error_of(other)["status"], error_of(other)["code"]) == (409, "idempotency_key_reused")
    assert stored() == before


def test_a_key_is_the_owners_and_the_benchmarks_own(make, api, benchmark, submitter):
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    first = submitter.post(path_of(benchmark), sent, Idempotency_Key="k1").json()
    elsewhere = submitter.post(path_of(make.benchmark()), sent, Idempotency_Key="k1")
    other = api.as_user(make.user()).post(
        path_of(benchmark), body({"name": "F", "scores": scores(1)}, create_systems=True), Idempotency_Key="k1"
    )
    assert [elsewhere.status_code, other.status_code] == [201, 201]
    assert len({first["uuid"], elsewhere.json()["uuid"], other.json()["uuid"]}) == 3


def test_a_table_sent_twice_with_one_key_is_one_submission(benchmark, submitter):
    table, query = "system,Task 1\nE,1\n", "create_systems=true"
    path = path_of(benchmark)
    calls = [submitter.post(path, table, kind="text/csv", query=query, Idempotency_Key="k") for _ in range(2)]
    assert [call.status_code for call in calls] == [201, 200]


@pytest.mark.parametrize("key", ["", "two words", "x" * 101, "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused(benchmark, submitter, key):
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    assert error_of(submitter.post(path_of(benchmark), sent, Idempotency_Key=key))["status"] == 400


# --- Corrections and missing scores -----------------------------------------------------------------------------------


def test_a_correction_names_its_submission_and_changes_what_it_mentions(make, api, benchmark, submitter):
    new = {"name": "E", "scores": scores(9, 1, 2, 3, "withheld")}
    first = submitter.post(path_of(benchmark), body(new, create_systems=True)).json()["systems"][0]
    correction = {"corrects": first["submission"], "scores": {"task-2": "not applicable", "task-5": 7}}
    sent = submitter.post(path_of(benchmark), body(correction, note="The log was of another run."))
    assert (sent.status_code, sent.json()["systems"][0]["corrects"]) == (201, first["submission"])
    make.publish(benchmark)
    cells = api.get(f"benchmarks/{benchmark.key}/systems/e/").json()["scores"]
    assert [(cell["value"], cell["missing"]) for cell in cells.values()] == [
        (9, None), (None, "not_applicable"), (2, None), (3, None), (7, None)
    ]  # fmt: skip


def test_a_correction_without_a_note_or_of_somebody_else_s_scores_names_its_place(make, api, benchmark, submitter):
    number = str(Submission.objects.get(system__key="a").uuid)
    before = stored()
    correction = {"corrects": number, "scores": {"task-1": 3}}
    assert error_of(submitter.post(path_of(benchmark), body(correction)))["details"][0]["place"] == "note"
    for wrong in (number, "7", "00000000-0000-0000-0000-000000000000"):
        sent = body(correction | {"corrects": wrong}, note="x")
        issues = error_of(submitter.post(path_of(benchmark), sent))["details"]
        assert [(issue["place"], issue["message"]) for issue in issues] == [
            ("systems[0].corrects", "there is no submission of this number that you can correct")
        ]
    assert stored() == before
