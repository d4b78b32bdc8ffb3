"""The submitter of predictions hears once that they were scored or refused, and no one hears of any score."""

from importlib import import_module

import pytest
from django.apps import apps
from django.core import mail
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.rescoring.corrections import score_again
from leaderboard.models import Batch, Notice, NoticeChoice
from leaderboard.notifications.mails import put_digests
from leaderboard.notifications.notices import choose_ways
from leaderboard.notifications.outbox import send_due_messages
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    REFERENCES,
    add_references,
    labels_file,
    score_all,
    scored,
    texts_benchmark,
    upload,
)
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db


def notices(user) -> list[tuple[str, str, str]]:
    rows = Notice.objects.filter(user=user).order_by("pk")
    return list(rows.values_list("kind", "text", "path"))


def test_a_submitter_hears_that_predictions_were_scored_with_the_link_and_without_a_score(make):
    benchmark, user = texts_benchmark(make, name="Speech"), make.user("Ada")
    row = scored(benchmark, user)
    path = reverse("prediction", args=[row.uuid])
    assert row.state == "scored"
    assert notices(user) == [("predictions", "Your predictions of Deep Thought for Speech were scored.", path)]
    put_digests()
    send_due_messages()
    (message,) = [one for one in mail.outbox if user.email in one.to]
    assert message.subject == "[Plurank] Speech: about your predictions"
    assert "- Your predictions of Deep Thought for Speech were scored.\n  http" in message.body
    assert path in message.body
    assert "1.0" not in message.body


def test_a_trial_run_is_called_one(make):
    benchmark, user = texts_benchmark(make, name="Speech"), make.user()
    row, _ = submit_predictions(benchmark, user, upload(animals=labels_file(ids=range(2)), is_trial=True))
    score_all(benchmark)
    row.refresh_from_db()
    assert row.state == "scored"
    assert [text for _, text, _ in notices(user)] == [
        "The trial run of your predictions of Deep Thought for Speech was scored."
    ]


def test_what_scoring_refuses_is_told_once(make):
    benchmark, user = texts_benchmark(make, name="Speech", submission_policy="open"), make.user()
    row, _ = submit_predictions(benchmark, user, upload("Taken"))
    make.accepted(benchmark, {"Taken": [0.1, 1.0]})  # others took the name meanwhile
    score_all(benchmark)
    row.refresh_from_db()
    expected = "Your predictions of Taken for Speech were refused; their page says why."
    assert (row.state, notices(user)) == (
        "refused", [("predictions", expected, reverse("prediction", args=[row.uuid]))],
    )  # fmt: skip


def test_a_submitter_can_switch_it_off(make):
    benchmark, user = texts_benchmark(make), make.user()
    choose_ways(user, {"predictions": "off"})
    scored(benchmark, user)
    assert notices(user) == []
    page = signed_in(user).get(reverse("notice_choices")).content.decode()
    assert "My predictions that were scored or refused" in page


def test_a_name_is_escaped_on_the_page_of_notices(make):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user, name="<img src=x>")
    page = signed_in(user).get(reverse("notices")).content.decode()
    assert "Your predictions of &lt;img src=x&gt; for" in page
    assert "<img src=x>" not in page


def test_scoring_again_is_a_correction_of_scores(make):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user)
    before = notices(user)
    corrected = REFERENCES.replace("i2,cat", "i2,dog")
    add_references(benchmark.tasks.get(key="animals"), corrected, "exact_match", by=owner_of(benchmark))
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner_of(benchmark), benchmark)) == 1
    score_all(benchmark)
    path = reverse("batch", args=[Batch.objects.filter(benchmark=benchmark).latest("pk").uuid])
    sentence = f"Your scores of Deep Thought on {benchmark.name} were corrected."
    assert notices(user) == [*before, ("decision", sentence, path)]


def test_going_back_they_are_notices_of_a_kind_that_the_older_release_knows(make):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user)
    choose_ways(user, {"predictions": "site", "token": "off"})
    import_module("leaderboard.migrations.0051_notices_of_predictions").as_decisions(apps, None)
    assert [kind for kind, _, _ in notices(user)] == ["decision"]
    assert list(NoticeChoice.objects.values_list("kind", "way")) == [("token", "off")]
