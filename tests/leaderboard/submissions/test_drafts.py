"""Drafts: what is checked in an upload, and what is kept of it."""

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Draft, Task
from leaderboard.models.submissions import Source
from leaderboard.submissions.checks import Replaceable, parse_score
from leaderboard.submissions.drafts import make_draft, rows_now
from leaderboard.submissions.lifecycle import withdraw_submission
from leaderboard.submissions.problems import no_longer
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError, Problems


def draft(benchmark, owner, *rows: SubmittedRow) -> Draft:
    return make_draft(audience_of(owner, benchmark), rows, source=Source.FORM)


def row(benchmark, name: str, *texts: str, **fields) -> SubmittedRow:
    keys = [task.key for task in benchmark.tasks.all()]
    return SubmittedRow(name, dict(zip(keys, texts or ["1"] * len(keys), strict=False)), **fields)


def problems(benchmark, owner, *rows: SubmittedRow) -> dict[str, list[str]]:
    with pytest.raises(InputError) as caught:
        draft(benchmark, owner, *rows)
    assert Draft.objects.count() == 0
    return caught.value.problems.by_place


# --- Scores --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("71.3", 71.3), ("-1.5", -1.5), ("+2", 2.0), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("1E-2", 0.01),
        (" 7 ", 7.0), ("0", 0.0), ("-0", -0.0), ("0.1", 0.1), ("9.9999999999949e99", 9.99999999999e99),
        ("92.19999999999999", 92.2), ("1000000000000.5", 1e12),
        ("", None), ("   ", None),
    ],
)  # fmt: skip
def test_a_score_is_read_as_the_nearest_number(text, value):
    assert repr(parse_score(text, Task())) == repr(value)


@pytest.mark.parametrize(
    "text",
    ["good", "nan", "NaN", "inf", "-inf", "Infinity", "1,5", "1.5.2", "1_000", "0x10", "٣", "１", "1e", "e5", "--1",
     "+-1", "1 2", "½", "1\0", "71%", "=1+1", "null"],
)  # fmt: skip
def test_a_text_is_not_a_number(text):
    with pytest.raises(ValueError, match=r"is not a number; (write (71\.3|1\.5), or )?leave the field empty"):
        parse_score(text, Task())


@pytest.mark.parametrize("text", ["1.01e100", "-1e101", "1e999", "-1e999", "9" * 400])
def test_a_number_beyond_all_numbers_is_too_large(text):
    with pytest.raises(ValueError, match="is too large to be a score"):
        parse_score(text, Task())


@pytest.mark.parametrize("text", ["0", "100", "0.0001", "99.9999"])
def test_the_ends_of_a_range_belong_to_it(text):
    assert parse_score(text, Task(name="T", minimum=0.0, maximum=100.0)) == float(text)


def test_a_score_outside_the_range_names_the_range():
    task = Task(name="Accuracy", minimum=0.0, maximum=100.0)
    with pytest.raises(ValueError, match=r"^-0.001 is below 0, the minimum score of Accuracy$"):
        parse_score("-0.001", task)
    with pytest.raises(ValueError, match=r"^100.1 is above 100, the maximum score of Accuracy$"):
        parse_score("100.1", task)


def test_every_wrong_score_is_told_at_its_task(make):
    benchmark = make.benchmark(tasks=[TaskSpec("T 1", maximum=10.0), TaskSpec("T 2"), TaskSpec("T 3")], scores={})
    messages = problems(benchmark, make.user(), row(benchmark, "New", "11", "x", "3"))
    assert messages == {
        "t-1": ["11 is above 10, the maximum score of T 1"],
        "t-2": ["'x' is not a number; write 71.3, or leave the field empty if there is no score"],
    }


def test_a_task_that_there_is_not_is_named(make):
    benchmark = make.benchmark(name="Toy")
    refusals = problems(benchmark, make.user(), SubmittedRow("New", {"task-1": "1", "task-9": "1"}))
    assert refusals == {"task-9": ["'task-9' is not a task of Toy"]}


def test_an_archived_task_takes_no_scores(make):
    benchmark = make.benchmark(name="Toy")
    benchmark.tasks.filter(key="task-2").update(is_archived=True)
    refusals = problems(benchmark, make.user(), SubmittedRow("New", {"task-1": "1", "task-2": "1"}))
    assert refusals == {"task-2": ["'task-2' is not a task of Toy"]}


def test_an_upload_without_any_score_is_refused(make):
    benchmark = make.benchmark()
    expected = {"scores": ["there are no scores; a submission needs at least one"]}
    assert problems(benchmark, make.user(), row(benchmark, "New", "", " ", "", "", "")) == expected
    assert problems(benchmark, make.user(), SubmittedRow("New", {})) == expected


def test_an_upload_without_any_system_is_refused(make):
    expected = {"rows": ["there is no system; an upload needs at least one"]}
    assert problems(make.benchmark(), make.user()) == expected


def test_a_draft_keeps_what_was_read_and_until_when(make):
    benchmark, owner = make.benchmark(), make.user()
    before = timezone.now()
    about = {"organisation": "Lab", "url": "https://a.example/x"}
    new_draft = draft(benchmark, owner, row(benchmark, " New ", "1.5", "", "-2", **about))
    stored = Draft.objects.get()
    assert stored == new_draft
    assert (stored.owner, stored.previewed_number, stored.source) == (owner, 1, "form")
    assert stored.rows == [
        {
            "system": {
                "key": None, "name": "New", "organisation": "Lab", "url": "https://a.example/x", "description": "",
                "metadata": {}, "near_misses": [],
            },
            "scores": {"task-1": {"value": 1.5}, "task-2": {"missing": "not_reported"}, "task-3": {"value": -2.0}},
            "line": None,
        }
    ]  # fmt: skip
    assert (stored.expires_at - before).days in (settings.DRAFT_DAYS, settings.DRAFT_DAYS - 1)


def test_checking_a_draft_anew_finds_the_same_rows(make):
    benchmark, owner = make.benchmark(), make.user()
    new_draft = draft(benchmark, owner, row(benchmark, "New", "0.1", "", "1e-320", "1e100", "-0"))
    assert rows_now(Draft.objects.get(), audience_of(owner, benchmark)) == new_draft.rows


# --- Systems -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the system name '' is empty"),
        (" \u3000", "is empty"),
        ("=SUM(A1)", "begins with '=', which spreadsheets take for a formula"),
        ("+1", "begins with '+'"),
        ("-1", "begins with '-'"),
        ("@x", "begins with '@'"),
        ("a\nb", "holds the invisible or control character U+000A"),
        ("a\x00b", "holds the invisible or control character U+0000"),
        ("a\u202eb", "holds the invisible or control character U+202E"),
        ("Alpha\u200b One", "holds the invisible or control character U+200B (zero width space); leave it out"),
        ("x" * 201, "has 201 characters; at most 200 are allowed"),
        ("\ufb03" * 200, "is too long"),  # the ligature ffi, which compares as three letters
    ],
)
def test_a_name_that_cannot_be_stored_says_why(make, name, message):
    benchmark = make.benchmark()
    messages = problems(benchmark, make.user(), row(benchmark, name))
    assert list(messages) == ["system_name"]
    assert message in messages["system_name"][0]


@pytest.mark.parametrize("name", ["Alpha One", "ALPHA one", " Alpha One ", "alpha-one"])
def test_a_system_is_known_by_its_name_in_any_case_and_by_its_key(make, name):
    benchmark = make.benchmark({"Alpha One": [1.0], "Beta": [2.0]})
    owner = benchmark.memberships.get().user
    system = draft(benchmark, owner, row(benchmark, name)).rows[0]["system"]
    assert (system["key"], system["name"], system["near_misses"]) == ("alpha-one", "Alpha One", [])


def test_a_name_goes_before_a_key(make):
    benchmark = make.benchmark({"Some Name": [1.0]})
    make.accepted(benchmark, {"Some name 2": [2.0]})
    owner = benchmark.memberships.get().user
    assert draft(benchmark, owner, row(benchmark, "some-name-2")).rows[0]["system"]["name"] == "Some name 2"


def test_letters_with_their_accents_apart_are_the_same_name(make):
    benchmark = make.benchmark({"Café": [1.0]})
    owner = benchmark.memberships.get().user
    assert draft(benchmark, owner, row(benchmark, "Cafe\u0301")).rows[0]["system"]["key"] == "cafe"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Transformers XL", ["Transformer XL"]), ("Transformer-XL", ["Transformer XL"]), ("Something else", [])],
)
def test_a_new_name_that_may_be_a_slip_names_its_neighbours(make, name, nearest):
    benchmark = make.benchmark({"Transformer XL": [1.0], "Convolution": [2.0]})
    system = draft(benchmark, make.user(), row(benchmark, name)).rows[0]["system"]
    assert (system["key"], system["near_misses"]) == (None, nearest)


@pytest.mark.parametrize(("first", "second"), [("New", "new"), ("New", "New"), ("A", "a"), ("Alpha One", "alpha-one")])
def test_one_system_has_one_row_in_an_upload(make, first, second):
    benchmark = make.benchmark({"A": [1.0], "Alpha One": [2.0]})
    owner = benchmark.memberships.get().user
    messages = problems(benchmark, owner, row(benchmark, first), row(benchmark, second))
    assert list(messages) == ["system_name"]
    assert "appears more than once; there can be only one row per system" in messages["system_name"][0]


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("organisation", "x" * 201, "201 characters; the limit is 200"),
        ("description", "x" * 5001, "5001 characters; the limit is 5000"),
        ("url", "https://a.example/" + "x" * 500, "518 characters; the limit is 500"),
        ("url", "a.example", "'a.example' is not a URL that begins with http:// or https://"),
        ("description", "a\0b", "it holds the control character U+0000; leave it out"),
        ("organisation", "a\ud800b", "it holds the invisible or control character U+D800; leave it out"),
    ],
)
def test_what_is_said_of_a_system_fits_the_room_there_is(make, field, text, message):
    benchmark = make.benchmark()
    assert problems(benchmark, make.user(), row(benchmark, "New", **{field: text})) == {field: [message]}


# --- Whose system it is --------------------------------------------------------------------------------------------

OTHERS = "was submitted by another account; only that account, a moderator or an owner can replace its scores"


def test_where_everybody_decides_alone_a_system_belongs_to_those_who_brought_it(make):
    benchmark, submitter = make.benchmark(submission_policy="open"), make.user()
    make.submitted(benchmark, "Mine", ["1"] * 5, by=submitter)
    assert OTHERS in problems(benchmark, make.user(), row(benchmark, "Mine"))["system_name"][0]
    assert OTHERS in problems(benchmark, make.member(benchmark, "member"), row(benchmark, "mine"))["system_name"][0]
    for allowed in (submitter, make.member(benchmark, "moderator"), benchmark.memberships.get(role="owner").user):
        assert draft(benchmark, allowed, row(benchmark, "Mine")).rows[0]["system"]["key"] == "mine"


def test_where_a_moderator_decides_everybody_may_propose(make):
    benchmark = make.benchmark(submission_policy="moderated")
    assert draft(benchmark, make.user(), row(benchmark, "A")).rows[0]["system"]["key"] == "a"


def test_a_pending_or_rejected_submission_gives_no_right_to_a_system(make):
    benchmark, other = make.benchmark(submission_policy="moderated"), make.user()
    make.pending(benchmark, {"A": [1.0] * 5}, by=other)
    benchmark.submission_policy = "open"
    assert not Replaceable(audience_of(other, benchmark))(benchmark.systems.get(key="a").pk)


def test_withdrawing_does_not_give_a_system_away(make):
    benchmark, submitter = make.benchmark(), make.user()
    batch = make.submitted(benchmark, "Mine", ["1"] * 5, by=submitter)
    withdraw_submission(make.submission_of(batch), actor=submitter, reason="A mistake.", is_own=True)
    assert OTHERS in problems(benchmark, make.user(), row(benchmark, "Mine"))["system_name"][0]
    assert draft(benchmark, submitter, row(benchmark, "Mine")).rows[0]["system"]["key"] is None


def test_problems_are_collected_and_said_in_one_line():
    issues = Problems()
    assert not issues
    issues.add("task-1", "one")
    issues.add("task-1", "two")
    issues.add("system_name", "three")
    assert str(InputError(issues)) == "one; two; three"
    assert no_longer(InputError(issues)) == "This can no longer be submitted: one; two; three"
