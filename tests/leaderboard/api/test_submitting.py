"""Scores sent by a program: taken whole or not at all, once, with an error that says where."""

import json

import pytest

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Batch, Job, Revision, Score, Submission, SubmissionEvent, System
from leaderboard.submissions.lifecycle import withdraw_submission
from tests.concurrency import at_once
from tests.factories import TOY
from tests.leaderboard.api.conftest import Api, error_of
from tests.leaderboard.api.test_reading import figures, told

STORED = (Batch, Submission, Score, SubmissionEvent, System, Revision, Job)


def stored():
    """How many rows there are of everything that a submission writes."""
    return {model.__name__: model.objects.count() for model in STORED}


def body(*systems, **fields):
    return {"systems": list(systems)} | fields


def scores(*values):
    return {f"task-{t}": value for t, value in enumerate(values, start=1)}


def path_of(benchmark):
    return f"benchmarks/{benchmark.key}/submissions/"


@pytest.fixture
def benchmark(make):
    return make.benchmark(tasks=[TaskSpec(f"Task {t}", minimum=-10.0, maximum=100.0) for t in range(1, 6)])


@pytest.fixture
def submitter(make, api):
    """Somebody with an account and a token that may submit."""
    return api.as_user(make.user("Ada"), "submit")


# --- What is taken ---------------------------------------------------------------------------------------------------


def test_one_new_system_becomes_the_next_revision_and_its_board(make, api, benchmark, submitter):
    new = {"name": "E", "organisation": "Magrathea", "url": "https://e.example/", "scores": scores(9, 0.1, -1, 5, None)}
    response = submitter.post(path_of(benchmark), body(new, note="Five runs.", create_systems=True))
    assert response.status_code == 201
    found = response.json()
    assert (found["state"], found["revision"], found["note"], found["source"]) == ("accepted", 2, "Five runs.", "api")
    assert [(row["system"], row["name"], row["state"]) for row in found["systems"]] == [("e", "E", "accepted")]
    assert response["Location"] == found["url"] == f"http://testserver/api/v1/submissions/{found['uuid']}/"
    make.publish(benchmark)
    later = submitter.get(f"submissions/{found['uuid']}/").json()
    assert (later["state"], later["published_revision"]) == ("published", 2)
    expected = TOY | {"E": [9, 0.1, -1, 5, None]}
    for rule in ("mean", "borda", "copeland"):
        assert told(api.get(f"benchmarks/{benchmark.key}/rankings/{rule}/")) == figures(expected, rule)
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
    found = owner.post(path_of(benchmark), sent).json()
    assert error_of(owner.post(f"submissions/{found['uuid']}/withdraw/", {"reason": "Wrong."}))["status"] == 409
    one = found["systems"][1]["submission"]
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
    found = owner.post(path_of(benchmark), sent, query="dry_run=true").json()
    assert stored() == before
    assert (found["dry_run"], found["revision"], found["would_be_accepted"]) == (True, 1, True)
    assert [(row["system"], row["name"], row["is_new"]) for row in found["systems"]] == [
        (None, "E", True),
        ("a", "A", False),
    ]
    after = TOY | {"A": [0.0] * 5, "E": [9.0] * 5}
    for outcome in found["rules"]:
        # 95 % of the maximum that all tasks state
        old, new = (figures(table, outcome["rule"], gamma=95.0) for table in (TOY, after))
        told = {row["name"].lower(): (row["before"], row["after"]) for row in outcome["changes"]}
        assert told == {
            name: (old.get(name, (None,))[0], new[name][0])
            for name in new
            if name == "e" or old[name][0] != new[name][0]
        }
        assert [name.lower() for name in outcome["winners_after"]] == [n for n, (r, _) in new.items() if r == 1]


def test_a_dry_run_of_the_very_first_scores(make, api):
    benchmark = make.benchmark({}, n_tasks=2)
    owner = api.as_user(benchmark.memberships.get().user)
    sent = body({"name": "A", "scores": scores(1, 2)}, create_systems=True)
    found = owner.post(path_of(benchmark), sent, query="dry_run=true").json()
    assert found["revision"] == 0
    assert {outcome["rule"]: outcome["winners_after"] for outcome in found["rules"]}["borda"] == ["A"]


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


def test_two_calls_with_one_key_at_the_same_time_are_one_submission(make_committed, schema):
    benchmark = make_committed.benchmark()
    sender = Api(schema).as_user(make_committed.user(), "submit")
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    calls = at_once([lambda: sender.post(path_of(benchmark), sent, Idempotency_Key="k")] * 4)
    assert sorted(call.status_code for call in calls) == [200, 200, 200, 201]
    assert len({call.json()["uuid"] for call in calls}) == 1
    assert Batch.objects.count() == 2
    assert Revision.objects.filter(benchmark=benchmark).count() == 2


# --- What is refused -------------------------------------------------------------------------------------------------

GOOD = {"name": "E", "scores": {"task-1": 1}}
BAD_BODIES = {
    "not UTF-8": (b'{"systems": "\xff"}', "The body is not JSON: byte 0xff at position 13 is not UTF-8."),
    "UTF-16": ('{"systems": []}'.encode("utf-16"), "The body is not JSON: byte 0xff at position 0 is not UTF-8."),
    "empty": (b"", "systems: it is missing"),
    "cut short": (b'{"systems": [', "The body is not JSON: Expecting value at line 1, character 14."),
    "NaN": (b'{"systems": [{"name": "E", "scores": {"task-1": NaN}}]}', "NaN is no JSON"),
    "Infinity": (b'{"systems": [{"name": "E", "scores": {"task-1": -Infinity}}]}', "-Infinity is no JSON"),
    "too large": (b'{"systems": [{"name": "E", "scores": {"task-1": 1e999}}]}', "The number 1e999 is too large."),
    "many digits": (b'{"systems": [{"name": "E", "scores": {"task-1": ' + b"9" * 5000 + b"}}]}", "is too large."),
    "key twice": (b'{"systems": [], "systems": []}', "The key 'systems' stands twice in one object."),
    "task twice": (
        b'{"systems": [{"name": "E", "scores": {"task-1": 1, "task-1": 2}}]}',
        "The key 'task-1' stands twice in one object.",
    ),
    "deep": (b'{"systems": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 20 levels deep"),
    "a list": (b"[]", "expected an object, found a list"),
    "null": (b"null", "expected an object, found null"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_is_no_such_json_stores_nothing(benchmark, submitter, name):
    data, message = BAD_BODIES[name]
    before = stored()
    response = submitter._client.post(
        f"/api/v1/{path_of(benchmark)}", data, content_type="application/json", headers=submitter._headers({})
    )
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]
    assert stored() == before


BAD_SYSTEMS = [
    ({"systems": "E"}, "systems", "expected a list of systems, found the text 'E'"),
    ({"systems": []}, "systems", "there is no system; an upload has at least one"),
    ({"systems": [GOOD], "sistems": 1}, "sistems", "there is no such field"),
    ({"systems": [GOOD], "create_systems": "yes"}, "create_systems", "expected true or false, found the text 'yes'"),
    ({"systems": [GOOD], "note": 7}, "note", "expected a text, found the number 7"),
    ({"systems": ["E"]}, "systems[0]", "expected an object, found the text 'E'"),
    ({"systems": [{"name": "E"}]}, "systems[0].scores", "it is missing"),
    ({"systems": [{"name": "E", "scores": [1]}]}, "systems[0].scores", "expected an object, found a list"),
    ({"systems": [{"name": "E", "scores": {}}]}, "systems[0].scores", "no score is given"),
    ({"systems": [{"name": "E", "scores": {"task-1": None}}]}, "systems[0].scores", "no score is given"),
    ({"systems": [{"scores": {"task-1": 1}}]}, "systems[0].name", "a system has a name, or the key"),
    ({"systems": [GOOD | {"score": 1}]}, "systems[0].score", "there is no such field"),
    ({"systems": [GOOD | {"name": "GPT\u2060-4"}]}, "systems[0].name", "invisible or control character U+2060"),
    ({"systems": [GOOD | {"name": "=1+1"}]}, "systems[0].name", "begins with '=', which spreadsheets take"),
    ({"systems": [GOOD | {"name": "a\u0000b"}]}, "systems[0].name", "it holds the invisible or control"),
    ({"systems": [GOOD | {"name": "a\ud800"}]}, "systems[0].name", "or control character U+D800"),
    ({"systems": [GOOD | {"name": ["E"]}]}, "systems[0].name", "expected a text, found a list"),
    ({"systems": [GOOD | {"name": "x" * 201}]}, "systems[0].name", "has 201 characters"),
    ({"systems": [GOOD | {"organisation": "x" * 201}]}, "systems[0].organisation", "at most 200 are kept"),
    ({"systems": [GOOD | {"url": "javascript:alert(1)"}]}, "systems[0].url", "is not an address"),
    ({"systems": [GOOD | {"key": "No Key"}]}, "systems[0].key", "is no key"),
    ({"systems": [GOOD | {"key": "a"}]}, "systems[0].name", "the key 'a' is that of 'A', not of 'E'"),
    ({"systems": [GOOD | {"name": "A", "key": "other"}]}, "systems[0].key", "is on the board under another key"),
    ({"systems": [{"key": "nobody", "scores": {"task-1": 1}}]}, "systems[0].key", "a new one needs a name too"),
    ({"systems": [{"name": "E", "scores": {"task-1": "71.3"}}]}, "systems[0].scores.task-1",
     "expected a number or null, found the text '71.3'; write the number without quotation marks"),
    ({"systems": [{"name": "E", "scores": {"task-1": True}}]}, "systems[0].scores.task-1", "found true"),
    ({"systems": [{"name": "E", "scores": {"task-1": 101}}]}, "systems[0].scores.task-1", "is above 100"),
    ({"systems": [{"name": "E", "scores": {"Task 11": 1}}]}, "systems[0].scores.Task 11",
     "is not a task of this benchmark; did you mean 'Task 1'?"),
    ({"systems": [{"name": "E", "scores": {"task-1": 1, "Task 1": 2}}]}, "systems[0].scores.Task 1",
     "'Task 1' is the task that 'task-1' names already"),
    ({"systems": [GOOD, GOOD]}, "systems[1].name", "E stands here more than once; a system has one row"),
    ({"systems": [GOOD, GOOD | {"name": " e "}]}, "systems[1].name", "e stands here more than once"),
    ({"systems": [GOOD | {"name": "GPT 4"}, GOOD | {"name": "gpt-4"}]}, "systems[1].name",
     "'gpt-4' and 'GPT 4' differ in nothing but case, spaces, hyphens or signs that look alike"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "place", "message"), BAD_SYSTEMS)
def test_a_wrong_value_is_told_with_its_place_and_stores_nothing(make, api, benchmark, sent, place, message):
    owner = api.as_user(benchmark.memberships.get().user)
    before = stored()
    found = error_of(owner.post(path_of(benchmark), {"create_systems": True} | sent))
    assert (found["status"], found["code"]) == (400, "invalid")
    assert found["details"][0]["place"] == place
    assert message.replace("{benchmark}", benchmark.name) in found["details"][0]["message"]
    assert found["message"].startswith("Nothing was stored: 1 problem. ")
    assert stored() == before


def test_a_new_system_without_saying_so_is_an_error_that_suggests_the_neighbour(make, api):
    benchmark = make.benchmark({"BERT large": [1.0], "GPT": [2.0]})
    owner = api.as_user(benchmark.memberships.get().user)
    found = error_of(owner.post(path_of(benchmark), body({"name": "BERT lagre", "scores": scores(1)})))
    assert found["details"] == [
        {
            "place": "systems[0].name",
            "message": "'BERT lagre' is not on the board; did you mean 'BERT large'? Say `create_systems` to add new "
            "systems",
        }
    ]
    twin = body({"name": "BERT_Large", "scores": scores(1)}, create_systems=True)
    found = error_of(owner.post(path_of(benchmark), twin))
    assert found["details"][0]["message"] == (
        "'BERT_Large' and 'BERT large' differ in nothing but case, spaces, hyphens or signs that look alike"
    )
    assert System.objects.filter(benchmark=benchmark).count() == 2


BAD_TABLES = [
    ("\n", [(None, None, "the file is empty")]),
    ("system;Task 1\nE;1,5\nF;1.5\n", [(3, "Task 1", "both points and commas")]),
    ("name,Task 1\nE,1\n", [(1, None, "the first column must be called 'system'")]),
    ("system,Task 1,Task 9\nE,1,2\n", [(1, "Task 9", "is not a task of")]),
    ("system,Task 1,task-1\nE,1,2\n", [(1, "task-1", "this is the second column of its task")]),
    ("system,Task 1\nE,high\nF,1,2\n", [(2, "Task 1", "'high' is no number"), (3, None, "has 3 columns")]),
    ("system,Task 1\nE,nan\n", [(2, "Task 1", "leave the cell empty")]),
    ("system,Task 1\nE,inf\n", [(2, "Task 1", "is infinite")]),
    ("system,Task 1\nE,1e999\n", [(2, "Task 1", "is too large")]),
    ("system,Task 1\nE,\"71,3\"\n", [(2, "Task 1", "write the decimal mark as a point")]),
    ("system,Task 1,Task 2\nE,1,2\nF,3,101\nG,-11,1\n", [(3, "Task 2", "is above 100"), (4, "Task 1", "is below -10")]),
    ("system,Task 1\nE,1\ne,2\n", [(3, "system", "the system 'e' already stands on line 2")]),
    ("system,Task 1\na,1\nA b,1\nA-B,2\n", [(4, "system", "'A-B' and 'A b' differ in nothing but")]),
    ("system,Task 1\n=E,1\n", [(2, "system", "begins with '='")]),
    ("system,Task 1\nE,\n", [(2, None, "no score is given")]),
    ("system,Task 1\n", [(1, None, "no systems: the header is the only row")]),
    ("system,Täsk".encode("latin-1"), [(1, None, "byte 0xe4 is not UTF-8")]),
    ("system,Task 1\nE,1\n".encode("utf-16"), [(1, None, "the file is UTF-16")]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "issues"), BAD_TABLES)
def test_a_wrong_table_is_told_with_line_and_column_and_stores_nothing(make, api, benchmark, table, issues):
    owner = api.as_user(benchmark.memberships.get().user)
    before = stored()
    found = error_of(owner.post(path_of(benchmark), table, kind="text/csv", query="create_systems=true"))
    assert found["status"] == 400
    assert [(detail.get("line"), detail.get("column")) for detail in found["details"]] == [
        (line, column) for line, column, _ in issues
    ]
    for detail, (_, _, message) in zip(found["details"], issues, strict=True):
        assert message in detail["message"]
    assert stored() == before


def test_a_row_and_a_key_of_one_system_are_two_rows(make, api):
    benchmark = make.benchmark({"Deep Thought": [1.0]})
    owner = api.as_user(benchmark.memberships.get().user)
    table = "system,Task 1\nDeep Thought,1\ndeep-thought,2\n"
    found = error_of(owner.post(path_of(benchmark), table, kind="text/csv"))
    assert found["details"] == [
        {"line": 3, "column": "system", "message": "Deep Thought stands here more than once; a system has one row"}
    ]


@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_fifty_megabytes_are_refused_before_they_are_read(benchmark, submitter, kind):
    class Body:
        """Stands for a body that nobody may read."""

        def read(self, *_):
            raise AssertionError("the body was read")

        readline = read

    response = submitter._client.generic(
        "POST",
        f"/api/v1/{path_of(benchmark)}",
        headers=submitter._headers({}),
        CONTENT_TYPE=kind,
        CONTENT_LENGTH=str(50 * 2**20),
        **{"wsgi.input": Body()},
    )
    assert response.status_code == 413
    limit = "2,500,000" if kind == "application/json" else "10,485,760"
    assert response.json()["error"]["message"] == f"The body has 52428800 bytes; at most {limit} are taken."


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "text/csv; charset=latin-1"])
def test_other_kinds_of_body_are_refused(benchmark, submitter, kind):
    before = stored()
    assert error_of(submitter.post(path_of(benchmark), json.dumps(body(GOOD)), kind=kind))["status"] == 415
    assert stored() == before


@pytest.mark.parametrize("query", ["dry_run=1", "dry_run=True", "dry_run="])
def test_a_dry_run_is_never_taken_for_a_real_one(benchmark, submitter, query):
    before = stored()
    sent = body(GOOD, create_systems=True)
    assert error_of(submitter.post(path_of(benchmark), sent, query=query))["status"] == 400
    assert stored() == before


def test_nobody_replaces_what_is_another_accounts_where_submissions_are_open(make, api, benchmark, submitter):
    before = stored()
    found = error_of(submitter.post(path_of(benchmark), body({"name": "A", "scores": scores(1)})))
    assert "came onto the board through another account" in found["details"][0]["message"]
    owner = benchmark.memberships.get().user
    withdraw_submission(Submission.objects.get(system__key="a"), actor=owner, reason="Gone.")
    found = error_of(submitter.post(path_of(benchmark), body({"name": "A", "scores": scores(1)}, create_systems=True)))
    assert "came onto the board through another account" in found["details"][0]["message"]
    assert stored()["Batch"] == before["Batch"]


def test_a_thousand_rows_are_stored_in_bulk(make, api, django_assert_max_num_queries):
    benchmark = make.benchmark({}, n_tasks=2)
    owner = api.as_user(benchmark.memberships.get().user)
    table = "system,Task 1,Task 2\n" + "".join(f"System {i},{i},1\n" for i in range(1000))
    with django_assert_max_num_queries(125):
        response = owner.post(path_of(benchmark), table, kind="text/csv", query="create_systems=true")
    assert response.status_code == 201


def test_more_than_the_cap_is_answered_with_429_and_the_reason(make, api):
    benchmark = make.benchmark(daily_cap=1)
    user = api.as_user(make.user())
    first = user.post(path_of(benchmark), {"create_systems": True, "systems": [GOOD]})
    assert first.status_code == 201
    found = error_of(user.post(path_of(benchmark), {"create_systems": True, "systems": [GOOD | {"name": "F"}]}))
    assert (found["status"], found["code"]) == (429, "quota_exceeded")
    assert "1 system of yours a day; 1 was submitted" in found["message"]


# --- Corrections and missing scores -----------------------------------------------------------------------------------


def test_a_correction_names_its_submission_and_changes_what_it_mentions(make, api, benchmark, submitter):
    new = {"name": "E", "scores": scores(9, 1, 2, 3, "withheld")}
    first = submitter.post(path_of(benchmark), body(new, create_systems=True)).json()["systems"][0]
    correction = {"corrects": first["submission"], "scores": {"task-2": "not applicable", "task-5": 7}}
    sent = submitter.post(path_of(benchmark), body(correction, note="The log was of another run."))
    assert (sent.status_code, sent.json()["systems"][0]["corrects"]) == (201, first["submission"])
    make.publish(benchmark)
    found = api.get(f"benchmarks/{benchmark.key}/systems/e/").json()["scores"]
    assert [(cell["value"], cell["missing"]) for cell in found.values()] == [
        (9, None), (None, "not_applicable"), (2, None), (3, None), (7, None)
    ]  # fmt: skip


def test_a_correction_without_a_note_or_of_somebody_else_s_scores_names_its_place(make, api, benchmark, submitter):
    number = str(Submission.objects.get(system__key="a").uuid)
    before = stored()
    correction = {"corrects": number, "scores": {"task-1": 3}}
    assert error_of(submitter.post(path_of(benchmark), body(correction)))["details"][0]["place"] == "note"
    for wrong in (number, "7", "00000000-0000-0000-0000-000000000000"):
        sent = body(correction | {"corrects": wrong}, note="x")
        found = error_of(submitter.post(path_of(benchmark), sent))["details"]
        assert [(issue["place"], issue["message"]) for issue in found] == [
            ("systems[0].corrects", "no submission of this number stands here that you may correct")
        ]
    assert stored() == before
