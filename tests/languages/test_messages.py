"""What the site tells people beside its pages, in other languages: sentences that are stored, notices and mails."""

import ast
import re
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import translation

from leaderboard.accounts.tokens import create_token, tell_of_expiring_tokens
from leaderboard.common.language.sentences import Sentence, engine_text, listed
from leaderboard.models import ApiToken, Notice
from leaderboard.notifications.mails import put_digests
from leaderboard.notifications.notices import notice_text, tell
from leaderboard.notifications.outbox import send_due_messages
from leaderboard.rankings.notices import tell_of_publications
from leaderboard.submissions.lifecycle import accept_batch, reject_batch
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_pages import MARKED, english_in
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db
HAVE_MAILS = {"accounts/adapter.py", "accounts/tokens.py", "notifications/mails.py"}  # each has a test here
OF_ALL_KINDS = Sentence("%(n)s system", "%(n)s systems").of(
    n=1234,
    name="A",
    rule=engine_text("Borda"),
    at=datetime(2026, 2, 3, 14, 5, tzinfo=UTC),
    some=listed(["A", Sentence("another system"), "C"], most=2),
)


@cache
def every_call() -> list[tuple[str, ast.Call]]:
    """The calls in the site's code, each with its file."""
    folder = settings.ROOT / "leaderboard"
    return [
        (file.relative_to(folder).as_posix(), node)
        for file in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def calls_of(name: str) -> list[tuple[str, ast.Call]]:
    """The calls of a function or class in the site's code, each with its file."""
    return [(file, call) for file, call in every_call() if getattr(call.func, "id", "") == name]


def mails_now() -> list[mail.EmailMessage]:
    """The mails that go out now."""
    mail.outbox.clear()
    put_digests()
    send_due_messages()
    return list(mail.outbox)


def unmarked_words(text: str, *data: str) -> list[str]:
    """The words of a mail outside of the brackets of the pseudo-language, without addresses and what people wrote."""
    text = re.sub(r"https?://[^\s⟦⟧·]+", "", text)
    while text != (plain := MARKED.sub("", text)):
        text = plain
    return [word for word in re.findall(r"[^\W\d_]{2,}", text) if word not in data]


def test_every_sentence_that_is_stored_is_written_where_it_is_made():
    made = [(file, call) for file, call in calls_of("Sentence") if file != "common/language/sentences.py"]
    assert [file for file, call in made if not all(isinstance(text, ast.Constant) for text in call.args)] == []
    assert len(made) > 20


def test_a_sentence_is_the_same_after_it_was_stored():
    assert Sentence.from_data(OF_ALL_KINDS.as_data()) == OF_ALL_KINDS


def test_a_sentence_is_said_in_the_language_in_force(pseudo_language):
    sentence = Sentence("On %(benchmark)s, under %(rule)s: %(falls)s.").of(
        benchmark="Speech",
        rule=engine_text("Borda"),
        falls=listed(
            [Sentence("%(system)s fell from rank %(before)s to %(after)s").of(system="A", before=1, after=1234)],
            most=1,
            total=3,
        ),
    )
    with translation.override("en"):
        assert str(sentence) == "On Speech, under Borda: A fell from rank 1 to 1,234 and 2 more."
    assert str(sentence).startswith(pseudo("On %(benchmark)s, under %(rule)s: %(falls)s.")[:3])
    assert unmarked_words(str(sentence)) == []


def test_the_number_chooses_the_plural():
    votes = Sentence(
        "A batch of %(n)s vote for %(benchmark)s needs a decision.",
        "A batch of %(n)s votes for %(benchmark)s needs a decision.",
    )
    assert [str(votes.of(n=n, benchmark="Chat")) for n in (1, 2000)] == [
        "A batch of 1 vote for Chat needs a decision.",
        "A batch of 2,000 votes for Chat needs a decision.",
    ]


def notified(make):
    """Somebody who has notices of decisions, of a fallen rank and of a token, in the language of the site."""
    user = make.user("Ada")
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    benchmark = make.published({"Low": [1.0, 1.0], "Mid": [2.0, 2.0]}, name="Speech", submission_policy="moderated")
    moderator = owner_of(benchmark)
    accept_batch(make.submitted(benchmark, "Mine", ["5", "5"], by=user), actor=moderator)
    reject_batch(make.submitted(benchmark, "Bad", ["3", "3"], by=user), actor=moderator, reason="Typo")
    make.publish(benchmark)
    tell_of_publications()
    accept_batch(make.submitted(benchmark, "Theirs", ["9", "9"], by=make.user("Eve")), actor=moderator)
    make.publish(benchmark)
    tell_of_publications()
    create_token(user, name="CI", scopes=["read"], days=30)
    ApiToken.objects.update(expiry=datetime.now(UTC) + timedelta(days=3))
    tell_of_expiring_tokens()
    return user


WRITTEN = ("Ada", "Mine", "Bad", "Speech", "Typo", "Theirs", "CI", "read", "Plurank")  # by people, and names


def test_notices_are_stored_in_english_and_read_in_the_language_of_the_page(make, pseudo_language):
    user = notified(make)
    rows = list(Notice.objects.order_by("pk"))
    assert sorted({row.kind for row in rows}) == ["decision", "first_place", "overtaken", "token", "waiting"]
    assert "Your submission of Mine to Speech was accepted." in [row.text for row in rows]
    assert not any("⟦" in row.text or "⟦" in str(row.sentence) for row in rows)
    assert [unmarked_words(notice_text(row), *WRITTEN) for row in rows] == [[] for _ in rows]
    newest = Notice.objects.filter(user=user).first()
    for route in ("notices", "dashboard"):
        page = signed_in(user).get(reverse(route)).content
        assert english_in(page) == []
        assert notice_text(newest) in page.decode()


def test_a_notice_of_an_older_release_is_shown_as_it_was_written(make, pseudo_language):
    user = make.user()
    old = Notice.objects.create(user=user, kind="waiting", key="1", text="Written long ago.", path="/")
    assert notice_text(old) == "Written long ago."
    assert "Written long ago." in signed_in(user).get(reverse("notices")).content.decode()


def test_a_waiting_submission_is_told_of_in_the_language_of_the_site(make, pseudo_language):
    user = make.user("Ada")
    tell([user.pk], "waiting", key="1", sentence=Sentence("Your account"), path="/")
    (message,) = mails_now()
    about, what = pseudo("Your account"), pseudo("a submission needs a decision")
    assert message.subject == f"⟦[Plúráñk] {about}: {what}···⟧"


def test_mails_about_notices_are_in_the_language_of_the_site(make, pseudo_language):
    user = notified(make)
    messages = [message for message in mails_now() if message.to == [user.email]]
    assert len(messages) == 3  # about the benchmark, about the account, and that there is a token
    for message in messages:
        assert unmarked_words(f"{message.subject}\n{message.body}", *WRITTEN) == []


def test_mails_of_accounts_are_in_the_language_of_the_site(make, settings, pseudo_language):
    settings.SITE_URL = "https://192.0.2.1"
    user = make.user("Ada")
    for email in (user.email, "nobody@x.example"):
        Client().post(reverse("account_reset_password"), {"email": email})
    messages = mails_now()
    assert [message.to for message in messages] == [[user.email], ["nobody@x.example"]]
    for message in messages:
        assert unmarked_words(f"{message.subject}\n{message.body}", "Plurank") == []


def is_unmarked(text: ast.expr) -> bool:
    """Whether an expression has words of its own, outside of every call."""
    if isinstance(text, ast.Constant):
        return isinstance(text.value, str) and re.search(r"[^\W\d_]", text.value) is not None
    if isinstance(text, ast.JoinedStr | ast.IfExp | ast.BinOp):
        return any(is_unmarked(part) for part in ast.iter_child_nodes(text) if isinstance(part, ast.expr))
    return False


def test_what_a_page_says_after_a_step_is_marked():
    """The pages of Django’s administration, which are in English, are left out."""
    said = [
        (file, node)
        for file, node in every_call()
        if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "messages" and node.args[1:]
    ]
    assert len(said) > 50
    assert [(file, call.lineno) for file, call in said if is_unmarked(call.args[1]) and file != "admin.py"] == []


@pytest.mark.parametrize(
    ("text", "is_seen"),
    [
        ('"Saved."', True),
        ('f"{n} saved"', True),
        ('gettext("Saved.") if n else "Nothing."', True),
        ('gettext("%(n)s saved") % {"n": n}', False),
        ('f"{one} {other}"', False),
        ("str(error)", False),
    ],
)
def test_an_unmarked_message_is_seen(text, is_seen):
    assert is_unmarked(ast.parse(text, mode="eval").body) is is_seen


def test_every_module_that_sends_mails_has_a_test_here():
    assert {file for file, _ in calls_of("put_mail")} == HAVE_MAILS
