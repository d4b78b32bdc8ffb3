"""Errors that pages show, and reasons that the site writes into histories, in other languages."""

import ast

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import translation

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.engine_problems import THINGS
from leaderboard.common.language.reasons import REASONS, reason_in_page_language
from leaderboard.notifications.posting import AddressError, read_address
from leaderboard.notifications.webhooks import add_webhook
from ranking_engine.text.names import check_name
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_messages import is_unmarked

pytestmark = pytest.mark.django_db
SHOWN = {
    "BadRequest", "ConditionError", "EvaluationError", "ExperimentError", "ExperimentLimitError", "ExportError",
    "FolderError", "FollowingError", "Http404", "IdempotencyError", "MissingKeyError",
    "NewSystemError", "OrganisationError", "PeopleError", "PermissionDenied", "PlacesError", "QuotaError",
    "ReleaseError", "StalePreviewError", "SubmissionError", "TokenError", "TooLargeError", "TooManyRowsError",
    "TookTooLongError", "UnknownChoiceError",
    "ValidationError", "WebhookError",
}  # fmt: skip
STORED = {"AddressError", "PostError"}
# The API, and programs that score predictions through it, read English; so does Django’s administration. What stores
# its sentences is in `REASONS`.
ENGLISH = ("api/", "admin.py", "evaluation/evaluators.py", "evaluation/entering.py")


def raised(names: set[str]) -> list[tuple[str, ast.Call]]:
    """Where the site raises one of these errors, each with its file."""
    folder = settings.ROOT / "leaderboard"
    return [
        (file.relative_to(folder).as_posix(), node.exc)
        for file in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and getattr(node.exc.func, "id", "") in names
        and node.exc.args
    ]


def sentence_of(error: ast.expr) -> ast.expr:
    """What an error says: its text, or the first of a form’s field."""
    return error.values[0] if isinstance(error, ast.Dict) else error


def test_what_errors_say_on_pages_is_marked():
    errors = [(file, call) for file, call in raised(SHOWN) if not file.startswith(ENGLISH)]
    assert len(errors) > 150
    assert [(file, call.lineno) for file, call in errors if is_unmarked(sentence_of(call.args[0]))] == []


def english_of(text: ast.expr) -> list[str]:
    """The texts of an expression with `1` for each value."""
    if isinstance(text, ast.IfExp):
        return [*english_of(text.body), *english_of(text.orelse)]
    if isinstance(text, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in text.values)]
    return [text.value] if isinstance(text, ast.Constant) else []


def test_what_errors_say_that_are_stored_can_be_translated(pseudo_language):
    texts = [text for _, call in raised(STORED) for text in english_of(call.args[0])]
    assert len(texts) > 20
    assert [text for text in texts if reason_in_page_language(text) == text] == []


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_said_in_the_language_of_the_page(pseudo_language, reason):
    values = {"n": "1,000", "due": "3 Feb 2026, 14:05 UTC", "organisation": "Lab", "ports": "443, 8443", "most": "200",
              "error": "timeout", "status": "500", "correlation": "0.9", "task": "QA", "split": "test",
              "phase": "Final"}  # fmt: skip
    assert reason_in_page_language(reason % values) == pseudo(reason) % values
    with translation.override("en"):
        assert reason_in_page_language(reason % values) == reason % values


def test_a_reason_that_someone_wrote_is_as_it_is(pseudo_language):
    assert reason_in_page_language("No moderator was asked.") == "No moderator was asked."


def test_an_address_is_refused_in_the_language_of_the_page(make, pseudo_language):
    benchmark = make.benchmark()
    with pytest.raises(AddressError, match=r"^The URL must begin with https:// and a host name\.$"):
        read_address("ftp://example.org")
    with pytest.raises(ValidationError) as refusal:
        add_webhook(benchmark, author=owner_of(benchmark), address="ftp://example.org", events=["revision"])
    assert refusal.value.message_dict == {"address": [pseudo("The URL must begin with https:// and a host name.")]}


@pytest.mark.parametrize(
    "name", ["", "n" * 300, "a\u200bb", "a" + "\u0301" * 9, "=1+1", "a;=1", "Mоdel"], ids=lambda name: ascii(name)[:12]
)
@pytest.mark.parametrize("thing", THINGS)
def test_why_a_text_can_be_no_name_is_said_in_the_language_of_the_page(pseudo_language, thing, name):
    with pytest.raises(ValueError, match=f"the {thing} name") as error:
        check_name(name, thing)
    translated = in_page_language(str(error.value))
    assert translated.startswith(pseudo("the ").removesuffix("⟧")[:4])
    assert translated.endswith("⟧")
    assert pseudo(thing) in translated
