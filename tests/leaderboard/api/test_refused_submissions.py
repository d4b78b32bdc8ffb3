"""What a program submits and what is refused: with its place, and without a trace."""

import json

import pytest

from leaderboard.models import Score, Submission, System
from leaderboard.submissions.lifecycle import withdraw_submission
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.api.uploads import body, path_of, scores, stored

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
    "key twice": (b'{"systems": [], "systems": []}', "The key 'systems' appears twice in one object."),
    "task twice": (
        b'{"systems": [{"name": "E", "scores": {"task-1": 1, "task-1": 2}}]}',
        "The key 'task-1' appears twice in one object.",
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
    ({"systems": []}, "systems", "there is no system; an upload needs at least one"),
    ({"systems": [GOOD], "sistems": 1}, "sistems", "there is no such field"),
    ({"systems": [GOOD], "create_systems": "yes"}, "create_systems", "expected true or false, found the text 'yes'"),
    ({"systems": [GOOD], "note": 7}, "note", "expected a text, found the number 7"),
    ({"systems": ["E"]}, "systems[0]", "expected an object, found the text 'E'"),
    ({"systems": [{"name": "E"}]}, "systems[0].scores", "it is missing"),
    ({"systems": [{"name": "E", "scores": [1]}]}, "systems[0].scores", "expected an object, found a list"),
    ({"systems": [{"name": "E", "scores": {}}]}, "systems[0].scores", "there are no scores"),
    ({"systems": [{"name": "E", "scores": {"task-1": None}}]}, "systems[0].scores", "there are no scores"),
    ({"systems": [{"scores": {"task-1": 1}}]}, "systems[0].name", "a system needs a name, or the key"),
    ({"systems": [GOOD | {"score": 1}]}, "systems[0].score", "there is no such field"),
    ({"systems": [GOOD | {"name": "GPT\u2060-4"}]}, "systems[0].name", "invisible or control character U+2060"),
    ({"systems": [GOOD | {"name": "=1+1"}]}, "systems[0].name", "begins with '=', which spreadsheets take"),
    ({"systems": [GOOD | {"name": "a\u0000b"}]}, "systems[0].name", "it holds the invisible or control"),
    ({"systems": [GOOD | {"name": "a\ud800"}]}, "systems[0].name", "or control character U+D800"),
    ({"systems": [GOOD | {"name": ["E"]}]}, "systems[0].name", "expected a text, found a list"),
    ({"systems": [GOOD | {"name": "x" * 201}]}, "systems[0].name", "has 201 characters"),
    ({"systems": [GOOD | {"organisation": "x" * 201}]}, "systems[0].organisation", "the limit is 200"),
    ({"systems": [GOOD | {"url": "javascript:alert(1)"}]}, "systems[0].url", "is not a URL"),
    ({"systems": [GOOD | {"key": "No Key"}]}, "systems[0].key", "is not a key"),
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
    ({"systems": [GOOD, GOOD]}, "systems[1].name", "E appears more than once; there can be only one row per system"),
    ({"systems": [GOOD, GOOD | {"name": " e "}]}, "systems[1].name", "e appears more than once"),
    ({"systems": [GOOD | {"name": "GPT 4"}, GOOD | {"name": "gpt-4"}]}, "systems[1].name",
     "'gpt-4' and 'GPT 4' differ only in case, spaces, hyphens or look-alike characters"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "place", "message"), BAD_SYSTEMS)
def test_a_wrong_value_is_told_with_its_place_and_stores_nothing(make, api, benchmark, sent, place, message):
    owner = api.as_user(benchmark.memberships.get().user)
    before = stored()
    refusal = error_of(owner.post(path_of(benchmark), {"create_systems": True} | sent))
    assert (refusal["status"], refusal["code"]) == (400, "invalid")
    assert refusal["details"][0]["place"] == place
    assert message.replace("{benchmark}", benchmark.name) in refusal["details"][0]["message"]
    assert refusal["message"].startswith("Nothing was stored: 1 problem. ")
    assert stored() == before


def test_a_new_system_without_saying_so_is_an_error_that_suggests_the_neighbour(make, api):
    benchmark = make.benchmark({"BERT large": [1.0], "GPT": [2.0]})
    owner = api.as_user(benchmark.memberships.get().user)
    refusal = error_of(owner.post(path_of(benchmark), body({"name": "BERT lagre", "scores": scores(1)})))
    assert refusal["details"] == [
        {
            "place": "systems[0].name",
            "message": "'BERT lagre' is not on the board; did you mean 'BERT large'? Set `create_systems` to add new "
            "systems",
        }
    ]
    twin = body({"name": "BERT_Large", "scores": scores(1)}, create_systems=True)
    refusal = error_of(owner.post(path_of(benchmark), twin))
    assert refusal["details"][0]["message"] == (
        "'BERT_Large' and 'BERT large' differ only in case, spaces, hyphens or look-alike characters"
    )
    assert System.objects.filter(benchmark=benchmark).count() == 2


BAD_TABLES = [
    ("\n", [(None, None, "the file is empty")]),
    ("system;Task 1\nE;1,5\nF;1.5\n", [(3, "Task 1", "mixes decimal points and commas")]),
    ("name,Task 1\nE,1\n", [(1, "name", "the first column must be called 'system'")]),
    ("system,Task 1,Task 9\nE,1,2\n", [(1, "Task 9", "is not a task of")]),
    ("system,Task 1,task-1\nE,1,2\n", [(1, "task-1", "this is the second column of its task")]),
    ("system,Task 1\nE,high\nF,1,2\n", [(2, "Task 1", "'high' is not a number"), (3, None, "has 3 columns")]),
    ("system,Task 1\nE,nan\n", [(2, None, "there are no scores")]),
    ("system,Task 1\nE,inf\n", [(2, "Task 1", "is infinite")]),
    ("system,Task 1\nE,1e999\n", [(2, "Task 1", "is too large")]),
    ("system,Task 1,Task 2\nE,1,2\nF,3,101\nG,-11,1\n", [(3, "Task 2", "is above 100"), (4, "Task 1", "is below -10")]),
    ("system,Task 1\nE,1\ne,2\n", [(3, "system", "the system 'e' is already on line 2")]),
    ("system,Task 1\na,1\nA b,1\nA-B,2\n", [(4, "system", "'A-B' and 'A b' differ only in")]),
    ("system,Task 1\n=E,1\n", [(2, "system", "begins with '='")]),
    ("system,Task 1\nE,\n", [(2, None, "there are no scores")]),
    ("system,Task 1\n", [(1, None, "no systems: the header is the only row")]),
    ("system,Täsk".encode("latin-1"), [(1, None, "no systems: the header is the only row")]),
    ("system,Task 1\nE,1\n".encode("utf-16")[:-1], [(1, None, "UTF-16")]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "issues"), BAD_TABLES)
def test_a_wrong_table_is_told_with_line_and_column_and_stores_nothing(make, api, benchmark, table, issues):
    owner = api.as_user(benchmark.memberships.get().user)
    before = stored()
    refusal = error_of(owner.post(path_of(benchmark), table, kind="text/csv", query="create_systems=true"))
    assert refusal["status"] == 400
    assert [(detail.get("line"), detail.get("column")) for detail in refusal["details"]] == [
        (line, column) for line, column, _ in issues
    ]
    for detail, (_, _, message) in zip(refusal["details"], issues, strict=True):
        assert message in detail["message"]
    assert stored() == before


@pytest.mark.parametrize(
    "table", ['system,Task 1\nE,"71,3"\n', "system;Task 1\nE;71,3\n", "system,Task 1\nE,71.3\n".encode("utf-16")]
)
def test_a_decimal_comma_and_another_encoding_are_read(api, benchmark, table):
    owner = api.as_user(benchmark.memberships.get().user)
    answer = owner.post(path_of(benchmark), table, kind="text/csv", query="create_systems=true")
    assert answer.status_code == 201
    assert Score.objects.get(submission__system__name="E").value == 71.3


def test_a_row_and_a_key_of_one_system_are_two_rows(make, api):
    benchmark = make.benchmark({"Deep Thought": [1.0]})
    owner = api.as_user(benchmark.memberships.get().user)
    table = "system,Task 1\nDeep Thought,1\ndeep-thought,2\n"
    refusal = error_of(owner.post(path_of(benchmark), table, kind="text/csv"))
    assert refusal["details"] == [
        {
            "line": 3,
            "column": "system",
            "message": "Deep Thought appears more than once; there can be only one row per system",
        }
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


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("application/json", "submissions"), ("text/csv", "submissions"),
        ("multipart/form-data; boundary=b", "imports"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("charset", ["utf-16", "latin-1"])
def test_a_charset_other_than_utf8_is_refused_by_its_name_and_changes_no_parameter(
    benchmark, submitter, kind, place, charset
):
    path = f"benchmarks/{benchmark.key}/{place}/"
    answer = error_of(submitter.post(path, b"{}", query="dry_run=true", kind=f"{kind}; charset={charset}"))
    assert (answer["status"], answer["message"]) == (415, f"The charset {charset!r} is not read; send UTF-8.")


@pytest.mark.parametrize("query", ["dry_run=1", "dry_run=True", "dry_run="])
def test_a_dry_run_is_never_taken_for_a_real_one(benchmark, submitter, query):
    before = stored()
    sent = body(GOOD, create_systems=True)
    assert error_of(submitter.post(path_of(benchmark), sent, query=query))["status"] == 400
    assert stored() == before


def test_nobody_replaces_what_is_another_accounts_where_submissions_are_open(make, api, benchmark, submitter):
    before = stored()
    error = error_of(submitter.post(path_of(benchmark), body({"name": "A", "scores": scores(1)})))
    assert "was submitted by another account" in error["details"][0]["message"]
    owner = benchmark.memberships.get().user
    withdraw_submission(Submission.objects.get(system__key="a"), actor=owner, reason="Gone.")
    error = error_of(submitter.post(path_of(benchmark), body({"name": "A", "scores": scores(1)}, create_systems=True)))
    assert "was submitted by another account" in error["details"][0]["message"]
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
    error = error_of(user.post(path_of(benchmark), {"create_systems": True, "systems": [GOOD | {"name": "F"}]}))
    assert (error["status"], error["code"]) == (429, "quota_exceeded")
    assert "1 system a day to this benchmark; you have submitted 1," in error["message"]
