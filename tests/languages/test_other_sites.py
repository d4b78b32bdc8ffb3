"""What other sites show of a board in the pseudo-language: badges, cards and feeds."""

import io
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from PIL import Image

from leaderboard.boards.public.badges import ORDINALS, benchmark_badge, ordinal, system_badge
from leaderboard.boards.public.board import open_benchmark
from leaderboard.boards.public.cards import board_card
from leaderboard.boards.public.feeds import MAX_TOLD, WeekEntry, entries_of
from leaderboard.models import Benchmark
from leaderboard.submissions.lifecycle import withdraw_submission
from tests.factories import owner_of
from tests.languages.catalogues import forget_catalogues
from tests.languages.pseudo import pseudo, write_catalogue
from tests.languages.test_pages import english_within, unmarked_words_in
from tests.leaderboard.rankings.test_predictions import scores

ATOM = "{http://www.w3.org/2005/Atom}"
TOY = {"A": [1.0, None, 2.0], "B": [2.0, 5.0, 2.0], "C": [3.0, 4.0, 2.0], "D": [1.0, 3.0, 2.0]}


def unmarked_in(*texts: str) -> list[str]:
    """The words of texts outside of the brackets, and English within them; names of systems have a single letter."""
    page = f"<p>{'</p><p>'.join(texts)}</p>".encode()
    return [*unmarked_words_in(page, "Bench"), *english_within(page)]


def badges_of(benchmark: Benchmark, *rules: str) -> list[str]:
    """Messages and sentences of all badges of a benchmark, each over all rules and under some."""
    _, audience = open_benchmark(benchmark.key)
    badges = [benchmark_badge(audience, rule) for rule in ("", *rules)]
    for system in benchmark.systems.order_by("key"):
        badges += [system_badge(audience, system.key, rule) for rule in ("", *rules)]
        badges.append(system_badge(audience, system.key, of_prospects=True))
    return [text for badge in badges for text in (badge.message, badge.sentence)]


def test_badges_are_in_the_language_of_the_site(make, pseudo_language):
    benchmark = make.published(TOY, name="Bench")
    early = badges_of(benchmark, "mean", "borda", "condorcet", "kemeny")
    assert unmarked_in(*early) == []
    assert pseudo("Who can win is being computed.") in " ".join(early)
    joint = pseudo("joint %(rank)s of %(n)s, %(rule)s")
    assert joint % {"rank": pseudo("%(number)sst") % {"number": 1}, "n": 3, "rule": pseudo("Mean")} in early
    benchmark = make.publish(benchmark, studies=True)
    late = badges_of(benchmark)
    assert unmarked_in(*late) == []
    assert pseudo("Can win").lower() in late


def test_badges_of_boards_that_show_no_ranks_are_in_the_language_of_the_site(make, pseudo_language):
    to_come = make.benchmark({"A": [1.0], "B": [2.0]}, name="Bench")
    assert badges_of(to_come)[0] == pseudo("computing")
    assert unmarked_in(*badges_of(to_come)) == []
    assert badges_of(make.benchmark({}, n_tasks=2, name="Bench"))[0] == pseudo("no scores yet")
    benchmark = make.published({"A": [1.0], "B": [2.0]}, name="Bench", score_view="own")
    _, audience = open_benchmark(benchmark.key)
    hidden = benchmark_badge(audience)
    assert (hidden.message, unmarked_in(hidden.message, hidden.sentence)) == (pseudo("ranks not shown"), [])


def test_badges_say_in_the_language_of_the_site_what_is_withdrawn_or_unknown(make, pseudo_language):
    benchmark = make.published(TOY, name="Bench")
    withdraw_submission(
        benchmark.systems.get(name="D").submissions.get(), actor=owner_of(benchmark), reason="An error."
    )
    texts = badges_of(make.publish(benchmark))
    assert pseudo("withdrawn") in texts
    assert unmarked_in(*texts) == []
    client = Client()
    for address, text in (
        (reverse("badge", args=["nothing"]), pseudo("There is nothing public at this URL.")),
        (reverse("badge", args=[benchmark.key]) + "?rule=none", pseudo("There is no such rule on this board.")),
        (reverse("badge", args=[benchmark.key]), "⟦Bench, révísíóñ 2: ⟦"),
    ):
        assert text in client.get(address).content.decode(), address


def test_badges_say_in_the_language_of_the_site_which_scores_are_predicted(make, pseudo_language):
    table = scores(T=8)
    best = max(table, key=lambda system: sum(filter(None, table[system])))
    table[best][2] = None
    texts = badges_of(make.published(table, missing_policy="predicted", n_tasks=8, name="Bench"), "mean")
    assert unmarked_in(*texts) == []
    for text in (
        pseudo("%(n)s of its scores is predicted.") % {"n": 1},
        pseudo("Some scores of a winner are predicted."),
    ):
        assert text in " ".join(texts)


def test_an_ordinal_number_has_the_ending_of_the_language(pseudo_language):
    for number, text in ((1, "%(number)sst"), (12, "%(number)sth"), (23, "%(number)srd"), (102, "%(number)snd")):
        assert ordinal(number) == pseudo(text) % {"number": number}
    assert sorted(ORDINALS) == [1, 2, 3]


@pytest.fixture
def speaking(settings, tmp_path):
    """Makes the site one in another language, which says texts as a function does."""

    def speak(language: str, folder: str, say: Callable[[str], str]) -> None:
        write_catalogue(tmp_path, folder, say)
        settings.LOCALE_PATHS, settings.LANGUAGE_CODE = [tmp_path], language
        forget_catalogues()
        translation.activate(language)

    yield speak
    forget_catalogues()


def drawable(text: str) -> str:
    """As the pseudo-language says a text, in brackets that a card can draw."""
    return pseudo(text).translate(str.maketrans("⟦⟧", "‹›"))


def test_cards_are_in_the_language_of_the_site_and_not_kept_for_another(make, speaking):
    speaking("de", "de", drawable)
    benchmark = make.published(TOY, name="Bench")
    _, audience = open_benchmark(benchmark.key)
    board_picture = board_card(audience)
    assert board_picture.card.label == drawable("First under %(rule)s") % {"rule": drawable("Borda")}
    texts = [board_picture.card.label, board_picture.card.winner, board_picture.card.verdict, board_picture.card.facts]
    assert unmarked_in(*(text.translate(str.maketrans("‹›", "⟦⟧")) for text in texts)) == []
    assert Client().get(reverse("card", args=[benchmark.key])).content == board_picture.png()
    assert Image.open(io.BytesIO(board_picture.png())).size == (1200, 630)
    with translation.override("en"):
        english = board_card(audience)
        assert english.card.facts == "4 systems × 3 tasks, revision 1"
        assert english.state != board_picture.state
        assert english.png() != board_picture.png()
    _, audience = open_benchmark(make.benchmark({}, n_tasks=2).key)
    card = board_card(audience).card
    assert card.label == drawable("A benchmark on Plurank")
    assert card.verdict == drawable("No scores yet. The board appears with the first ones.")


@pytest.mark.parametrize(("language", "folder", "before"), [("zh-hans", "zh_Hans", "文"), ("ar", "ar", "")])
def test_a_card_is_in_english_where_the_letters_of_the_language_cannot_be_drawn(
    make, speaking, language, folder, before
):
    speaking(language, folder, lambda text: f"{before}{drawable(text)}")
    _, audience = open_benchmark(make.published(TOY, name="Bench").key)
    card = board_card(audience).card
    assert (card.facts, card.label) == ("4 systems × 3 tasks, revision 1", "First under Borda")
    assert benchmark_badge(audience).sentence.startswith(f"{before}‹Bench")


@pytest.fixture(scope="module")
def twice_once(make_once):
    benchmark = make_once.published(TOY, name="Bench")
    make_once.accepted(benchmark, {"E": [9.0, 9.0, 9.0]})
    return make_once.publish(benchmark)


@pytest.fixture
def published_twice(make, twice_once):
    """A benchmark with two boards, of which English was made before."""
    return twice_once


@pytest.mark.parametrize("query", ["", "?digest=week"])
def test_feeds_are_in_the_language_of_the_site(published_twice, pseudo_language, monkeypatch, query):
    later = timezone.now() + timedelta(days=7)
    monkeypatch.setattr(timezone, "now", lambda: later)
    for address in (reverse("feed", args=[published_twice.key]), reverse("feed_of_all")):
        root = ET.fromstring(Client().get(address + query).content)
        assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == translation.get_language()
        assert len(root.findall(f"{ATOM}entry")) == (1 if query else 2)
        texts = [one.text for name in ("title", "subtitle", "summary") for one in root.iter(f"{ATOM}{name}")]
        assert unmarked_in(*texts) == []
        first = root.find(f"{ATOM}entry").findtext(f"{ATOM}title")
        assert pseudo("Borda") in first
        assert first.startswith("⟦Bench")


def test_a_week_says_in_the_language_of_the_site_what_it_leaves_out(published_twice, pseudo_language):
    last = entries_of(published_twice)[0]
    week = WeekEntry(last.published_at.date(), [replace(last, changes=last.changes[:1])] * (MAX_TOLD + 2))
    assert unmarked_in(*week.sentences) == []
    assert pseudo("%(n)s earlier changes of the week are not listed.") % {"n": 2} in week.sentences


def test_pages_name_badges_of_other_sites_in_the_language_of_the_site(published_twice, pseudo_language):
    page = Client().get(reverse("board", args=[published_twice.key])).content.decode()
    assert pseudo("%(benchmark)s on Plurank") % {"benchmark": "Bench"} in page
    page = Client().get(reverse("system", args=[published_twice.key, "e"])).content.decode()
    assert pseudo("%(system)s on %(benchmark)s") % {"system": "E", "benchmark": "Bench"} in page
