"""Pages in the pseudo-language: what they show outside of its brackets is not marked for translation."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.benchmarks.tasks import task_fields
from leaderboard.models import Task
from leaderboard.submissions.lifecycle import accept_batch
from leaderboard.submissions.moderation import decisions
from tests.factories import SIX_SYSTEMS, owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_languages import text_of
from tests.leaderboard.votes.sent import collecting, sent, vote_lines
from tests.signing_in import signed_in

MARKED = re.compile(r"⟦[^⟦⟧]*⟧")
ENGLISH = re.compile(r"(?:[A-Za-z’]{2,}[ ,;:–-]+){2,}[A-Za-z’]{2,}")  # three words or more
# How many such texts a page shows, none of which is to be translated: the board links a download by the name of its
# format, Every Eval Ever; the chooser names the authors and titles of papers.
UNMARKED = {
    "board": 1, "scores": 0, "head_to_head": 0, "agreement": 0, "history": 0, "history_compare": 0, "timeline": 0,
    "pareto": 0, "prospects": 0, "what_if": 0, "stability": 0, "experiments": 0, "instances": 0, "submitters": 0,
    "submit": 0, "upload": 0, "manage": 0, "manage_tasks": 0, "manage_studies": 0, "manage_metadata": 0,
    "manage_models": 0, "manage_releases": 0, "manage_queue": 0, "manage_people": 0, "manage_audit": 0,
    "manage_webhooks": 0, "manage_following": 0, "manage_references": 0, "manage_phases": 0,
    "dashboard": 0, "profile": 0, "notices": 0, "notice_choices": 0, "tokens": 0, "sessions": 0, "close_account": 0,
    "organisations": 0, "home": 0, "new": 0, "try": 0, "try_votes": 0, "compare": 0, "landscape": 0, "rules": 0,
    "choose_rule": 6, "status": 0,
}  # fmt: skip
# What values bring into marked sentences beside: names of fields that a benchmark can have, and figures of papers.
WITHIN = UNMARKED | {"manage_metadata": 1, "landscape": 13}
OF_BENCHMARK = {
    "board", "scores", "head_to_head", "agreement", "history", "history_compare", "timeline", "pareto", "prospects",
    "what_if", "stability", "experiments", "instances", "submitters", "submit", "upload", "manage", "manage_tasks",
    "manage_studies", "manage_metadata", "manage_models", "manage_releases", "manage_queue", "manage_people",
    "manage_audit", "manage_webhooks", "manage_following", "manage_references", "manage_phases",
}  # fmt: skip


@pytest.fixture(scope="module")
def board_once(make_once):
    return make_once.published({"A": [1.0, 2.5, 3.0], "B": [2.0, 1.5, 1.0], "C": [3.0, 3.5, 2.0]}, name="Bench")


@pytest.mark.parametrize("route", UNMARKED)
def test_no_more_texts_of_a_page_are_english_than_are_known(make, board_once, pseudo_language, route):
    address = reverse(route, args=[board_once.key] if route in OF_BENCHMARK else [])
    page = signed_in(owner_of(board_once)).get(address)
    assert page.status_code == 200
    english = english_in(page.content)
    assert len(english) <= UNMARKED[route], english
    within = english_within(page.content)
    assert len(within) <= WITHIN[route], within


def english_in(page: bytes) -> list[str]:
    """The different texts of a page outside of the brackets, code left out."""
    return sorted(set(ENGLISH.findall(outside_of_brackets(page))))


def english_within(page: bytes) -> list[str]:
    """The different texts of a page of three English words or more, those within marked sentences among them."""
    texts = " | ".join(" ".join(text.split()) for tag, text in text_of(page) if tag not in ("code", "pre"))
    runs = re.findall(r"[^\W\d_]{2,}(?:[ ,;:–-]+[^\W\d_]{2,}){2,}", texts)
    # In the pseudo-language nearly every word has an accent.
    plain = re.compile(r"(?:\b[A-Za-z]*[aceinouy][A-Za-z]*\b[ ,;:–-]*){3,}")
    return sorted({text.strip() for run in runs for text in plain.findall(run)})


def unmarked_words_in(page: bytes, *data: str) -> list[str]:
    """The different words of a page outside of the brackets, without code and what people wrote."""
    return sorted(set(re.findall(r"[^\W\d_]{2,}", outside_of_brackets(page))) - set(data))


def outside_of_brackets(page: bytes) -> str:
    """The texts of a page without those that are marked, code left out."""
    texts = " | ".join(" ".join(text.split()) for tag, text in text_of(page) if tag not in ("code", "pre"))
    while texts != (plain := MARKED.sub("|", texts)):
        texts = plain
    return texts


def test_english_is_seen_outside_of_brackets_only():
    page = "<p>⟦Not ⟦this⟧ one here⟧ but these three words</p><code>git log of all</code><p>Two words</p>"
    assert english_in(page.encode()) == ["but these three words"]


def test_english_is_seen_within_marked_sentences():
    page = f"<p>{pseudo('No result: %(reason)s.') % {'reason': 'no rule ranks these systems'}}</p>"
    assert english_within(page.encode()) == ["no rule ranks these systems"]
    assert english_within(f"<p>{pseudo('No result at all for these systems.')}</p>".encode()) == []


def test_what_is_unusual_of_a_submission_is_in_the_language_of_the_site(make, pseudo_language, monkeypatch):
    monkeypatch.setattr(decisions, "LOOKED_AT", 3)
    benchmark = make.published(SIX_SYSTEMS, name="Bench", submission_policy="moderated")
    rows = {"Far": [21.0, 47.0], "Same": [11.0, 49.0], "Best": [20.0, 55.0]}
    batches = [
        make.pending(benchmark, rows | more, by=make.user("Ada"), decide_by=timezone.now())
        for more in ({}, {"Other": [12.5, 47.5]})
    ]
    flags = [waiting.flags for waiting in decisions.queue(benchmark, most=9)[0]]
    assert [[bool(MARKED.search(flag)) for flag in of_batch] for of_batch in flags] == [[True] * 4, [True] * 5]
    client = signed_in(owner_of(benchmark))
    addresses = [reverse("manage_queue", args=[benchmark.key])]
    addresses += [reverse("manage_decide", args=[benchmark.key, batch.uuid]) for batch in batches]
    assert [english_in(client.get(address).content) for address in addresses] == [[], [], []]


def test_the_settings_of_votes_and_what_became_of_a_person_are_in_the_language_of_the_site(make, pseudo_language):
    benchmark = collecting(make)
    sent(benchmark, vote_lines(60))
    client, address = signed_in(owner_of(benchmark)), reverse("manage_votes", args=[benchmark.key])
    fields = {"action": "forget", "voter": "person1@example.org", "reason": "They asked."}
    pages = client.get(address), client.post(address, fields, follow=True)
    assert [(page.status_code, english_in(page.content)) for page in pages] == [(200, []), (200, [])]
    (message,) = pages[1].context["messages"]
    sentence = "Done: this person had voted in %(n)s batch, and no vote says so any more."
    assert str(message) == pseudo(sentence) % {"n": 1}


def test_what_is_stored_of_a_choice_stays_english(make, pseudo_language):
    task = make.published({"A": [1.0], "B": [2.0]}).tasks.get()
    assert Task.Direction(task.direction).label == pseudo("higher is better")
    assert task_fields(task)["direction"] == "higher is better"


def test_the_way_of_a_submission_to_the_board_is_in_the_language_of_the_site(make, pseudo_language):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, name="Bench", submission_policy="moderated")
    batch = make.submitted(benchmark, "Next", ["3"], by=make.user("Ada"))
    client = signed_in(owner_of(benchmark))
    addresses = reverse("batch", args=[batch.uuid]), reverse("batch_progress", args=[batch.uuid])
    assert [english_in(client.get(address).content) for address in addresses] == [[], []]
    accept_batch(batch, actor=owner_of(benchmark))
    assert [english_in(client.get(address).content) for address in addresses] == [[], []]
    make.publish(benchmark)
    way = client.get(addresses[1]).content.decode().split("</ol>")[0]
    assert re.findall(r"[a-zA-Z]{2,}", MARKED.sub("", " ".join(text for _, text in text_of(way.encode())))) == ["UTC"]
