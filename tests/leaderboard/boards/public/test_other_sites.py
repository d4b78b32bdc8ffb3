"""What other sites show of a board: badges, the embedded table, feeds, the card of a link."""

import io
import re
import xml.etree.ElementTree as ET
from datetime import datetime, timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.board import build_board
from leaderboard.boards.public.badges import ordinal
from leaderboard.boards.public.board import open_benchmark
from leaderboard.boards.public.cards import board_card
from leaderboard.boards.public.feeds import weeks_of
from leaderboard.boards.query import BoardQuery
from leaderboard.common.charts.text_width import fitted, text_width
from leaderboard.models import Benchmark, ListedBoard
from leaderboard.submissions.lifecycle import withdraw_submission
from tests.markup import compact

SVG, ATOM = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/2005/Atom}"


def ask(name, *arguments, query="", **headers):
    cache.clear()
    return Client().get(reverse(name, args=arguments) + query, headers=headers)


def texts(response) -> list[str]:
    """What a badge says: its title, its whole sentence, and its two fields."""
    return [element.text for element in ET.fromstring(response.content).iter() if (element.text or "").strip()]


def message(name, *arguments, query=""):
    return texts(ask(name, *arguments, query=query))[-1]


def ranks(benchmark, system) -> dict[str, int]:
    """A system's rank under every rule that ranks it, from the board's own rows."""
    _, audience = open_benchmark(benchmark.key)
    board = build_board(audience, BoardQuery())
    (row,) = [row for row in board.rows if row.key == system]
    return {column.rule: cell.rank for column, cell in zip(board.visible, row.cells, strict=True) if cell.rank}


def test_a_systems_badge_counts_the_rules_under_which_the_board_has_it_first(make):
    benchmark = make.published()
    _, audience = open_benchmark(benchmark.key)
    electing = [c for c in build_board(audience, BoardQuery()).columns if c.n_winners]
    for system in "abcd":
        every_rank = list(ranks(benchmark, system).values())
        n_first = sum(system.upper() in column.winner_names for column in electing)
        low, high = ordinal(min(every_rank)), ordinal(max(every_rank))
        n_of = f"all {len(every_rank)} rules"  # nothing is missing: the rules that elect rank everybody
        text = message("system_badge", benchmark.key, system)
        if n_first:
            assert text == f"1st under {n_first} of {len(electing)} rules"
        else:
            assert text == f"{low} to {high} under {n_of}"
    n_sets = len({(tuple(sorted(column.winner_names)), column.n_winners) for column in electing})
    assert message("badge", benchmark.key) == f"{n_sets} sets of winners under {len(electing)} rules"


def test_a_badge_of_one_rule_tells_the_rank_the_tie_and_why_there_is_none(make):
    benchmark = make.published({"A": [1, None], "B": [2, 5], "C": [3, 4], "D": [1, 3]})
    messages = {system: message("system_badge", benchmark.key, system, query="?rule=mean") for system in "abcd"}
    shared = "joint 1st of 3, Mean"
    assert messages == {"a": "unranked, Mean", "b": shared, "c": shared, "d": "3rd of 3, Mean"}
    sentence = texts(ask("system_badge", benchmark.key, "a", query="?rule=mean"))[1]
    assert "A on " in sentence
    assert "No score on 1 of 2 tasks of weight above 0" in sentence
    assert message("badge", benchmark.key, query="?rule=mean") == "B and C, Mean"
    unknown = ask("badge", benchmark.key, query="?rule=none")
    assert (unknown.status_code, texts(unknown)[-1]) == (400, "unknown rule")


def test_a_badge_of_prospects_tells_whether_a_system_can_win_and_hides_what_the_page_hides(make):
    scores = {"A": [3, 1, 2], "B": [1, 3, 2], "C": [1, 1, 1]}
    benchmark = make.published(scores)
    messages = {system: message("system_badge", benchmark.key, system, query="?of=prospects") for system in "abc"}
    assert messages == dict.fromkeys("abc", "computing")
    benchmark = make.publish(benchmark, studies=True)
    messages = {system: message("system_badge", benchmark.key, system, query="?of=prospects") for system in "abc"}
    assert messages == {"a": "can win", "b": "can win", "c": "cannot win"}
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view=Benchmark.ScoreView.OWN)
    assert message("system_badge", benchmark.key, "a", query="?of=prospects") == "not found"


def test_a_badge_says_computing_withdrawn_and_nothing_of_what_there_is_not(make):
    benchmark = make.benchmark()
    batch = make.pending(benchmark, {"E": [1.0] * 5}, by=make.user())
    assert message("badge", benchmark.key) == "computing"
    assert message("system_badge", benchmark.key, "a") == "computing"
    assert ask("system_badge", benchmark.key, "e").status_code == 404  # it waits for a decision
    owner = benchmark.memberships.get().user
    benchmark = make.publish(benchmark)
    withdraw_submission(benchmark.systems.get(key="d").submissions.get(), actor=owner, reason="An error.")
    assert message("system_badge", benchmark.key, "d") != "withdrawn"  # the published board still has it
    benchmark = make.publish(benchmark)
    assert message("system_badge", benchmark.key, "d") == "withdrawn"
    assert batch.submissions.get().state == "pending"
    empty = make.benchmark({}, n_tasks=2)
    assert message("badge", empty.key) == "no scores yet"


def test_names_are_escaped_and_cut_and_the_text_fits_its_field(make):
    long = "W" * 90 + ' <script>alert(1)</script> & "quotes"'
    benchmark = make.published({long: [2.0], "日本語のとても長い名前" * 5: [1.0]}, name="<b>&amp;</b> " + "長" * 60)
    for name, arguments in (("badge", []), ("system_badge", [benchmark.systems.first().key])):
        response = ask(name, benchmark.key, *arguments, query="?rule=borda")
        root = ET.fromstring(response.content)
        assert not list(root.iter("script"))
        right = float(root.get("width"))
        assert right < 620
        for text in root.iter(f"{SVG}text"):
            assert float(text.get("x")) + float(text.get("textLength")) < right
            assert abs(float(text.get("textLength")) - text_width(text.text, 11)) < 0.1
            assert text.text == fitted(text.text, 11, 290)


def test_what_other_sites_show_sets_no_cookie_and_is_kept_until_it_changes(make):
    benchmark = make.published()
    for name, arguments in (
        ("badge", [benchmark.key]), ("system_badge", [benchmark.key, "a"]), ("embed", [benchmark.key]),
        ("feed", [benchmark.key]), ("feed_of_all", []), ("card", [benchmark.key]),
    ):  # fmt: skip
        first = ask(name, *arguments)
        assert (first.status_code, first.cookies, first.get("Vary")) == (200, {}, None), name
        assert first["Cache-Control"] == "public, max-age=0, must-revalidate"
        again = ask(name, *arguments, if_none_match=first["ETag"])
        assert (again.status_code, again.content) == (304, b"")
        signed_in = Client()
        signed_in.force_login(benchmark.memberships.get().user, backend="django.contrib.auth.backends.ModelBackend")
        assert signed_in.get(reverse(name, args=arguments)).content == first.content
    before = {name: ask(name, benchmark.key)["ETag"] for name in ("badge", "embed", "feed", "card")}
    make.accepted(benchmark, {"E": [9.0] * 5})
    make.publish(benchmark)
    statuses = {name: ask(name, benchmark.key, if_none_match=etag).status_code for name, etag in before.items()}
    assert statuses == dict.fromkeys(before, 200)


def test_unlisted_boards_have_badges_that_nobody_else_keeps_and_no_table_and_stand_in_no_list(make):
    benchmark = make.published(visibility="unlisted", name="Whisper")
    assert ask("badge", benchmark.key)["Cache-Control"].startswith("private")
    assert ask("embed", benchmark.key).status_code == 404
    assert b"Whisper" in ask("feed", benchmark.key).content
    assert b"Whisper" not in ask("feed_of_all").content


def test_the_embedded_table_may_be_framed_and_shows_the_view_that_is_asked_for(make):
    benchmark = make.published()
    response = ask("embed", benchmark.key, query="?top=2&rule=borda&rule=copeland&reference=copeland")
    policy = dict(part.strip().split(" ", 1) for part in response["Content-Security-Policy"].split(";"))
    assert (policy["frame-ancestors"], policy["script-src"], policy["form-action"]) == ("*", "'none'", "'none'")
    assert "X-Frame-Options" not in response
    body = compact(response)
    assert not re.search(r"<script|<form|<input|csrf|style=", body)
    heads = re.findall(r'<th scope="col" class="rule-head[^>]*>([^<]+)', body)
    expected = {key: rank for key in "abcd" if (rank := ranks(benchmark, key)["copeland"]) <= 2}
    rows = re.findall(r'class="place">=?(\d+)</span><a href="[^"]*/systems/(\w)/"', body)
    rank_of = {key: int(place) for place, key in rows}
    assert (heads, rank_of) == (["Borda", "Copeland"], expected)  # in the order that all pages have
    assert 'System <span class="ordered-by">by Copeland</span>' in body
    assert f"<title>Table of {benchmark.name} · Plurank</title>" in body
    assert ask("board", benchmark.key)["X-Frame-Options"] == "DENY"
    assert ask("embed", benchmark.key, query="?rule=none").status_code == 400


def entries(response) -> list[dict[str, str]]:
    root = ET.fromstring(response.content)
    assert root.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated", "link"):
        assert root.find(f"{ATOM}{name}") is not None, name
    assert root.find(f"{ATOM}author/{ATOM}name").text == "Plurank"
    return [
        {name: entry.find(f"{ATOM}{name}").text for name in ("id", "title", "updated", "summary")}
        | {"link": entry.find(f"{ATOM}link").get("href")}
        for entry in root.iter(f"{ATOM}entry")
    ]


def test_the_feed_tells_each_new_board_what_changed_and_who_leads(make):
    benchmark = make.published(name="Toy")
    make.accepted(benchmark, {"E": [9.0] * 5})
    make.publish(benchmark)
    response = ask("feed", benchmark.key)
    assert response["Content-Type"] == "application/atom+xml; charset=utf-8"
    second, first = entries(response)
    assert second["title"] == "Toy: revision 2, E first under Borda"
    assert first["title"] == "Toy: revision 1, B first under Borda"
    assert (
        "E wins alone under 25 of 26 rules with a winner and beats every other system head to head (Condorcet winner)"
        in second["summary"]
    )
    assert "Revision 2: E accepted." in second["summary"]
    assert "4 systems accepted" in first["summary"]
    assert second["id"] != first["id"]
    assert re.fullmatch(r"tag:[\w.]+,2026:benchmark/toy/publication/\d+", second["id"])
    assert second["link"].endswith("/b/toy/?revision=2")
    assert datetime.fromisoformat(second["updated"]) >= datetime.fromisoformat(first["updated"])
    page = compact(ask("board", benchmark.key))
    address = f"http://testserver{reverse('feed', args=[benchmark.key])}"
    assert f'type="application/atom+xml" title="Toy" href="{address}"' in page
    assert entries(ask("feed_of_all"))[0] == second


def test_where_a_board_has_one_system_all_say_that_there_is_nothing_to_compare_and_not_that_it_wins(make):
    benchmark = make.published({"Only": [2.0, 1.0]}, name="Toy")
    verdict = "One system so far: there is nothing to compare yet."
    card = board_card(open_benchmark(benchmark.key)[1]).card
    assert (card.label, card.winner, card.verdict, sum(card.shares)) == ("A benchmark on Plurank", "", verdict, 0)
    for query in ("", "?rule=mean", "?of=prospects"):
        assert message("system_badge", benchmark.key, "only", query=query) == "one system so far"
        assert message("badge", benchmark.key, query=query.replace("of=prospects", "")) == "one system so far"
    assert [entry["title"] for entry in entries(ask("feed", benchmark.key))] == ["Toy: revision 1"]
    rankings = Client().get(reverse("api:rankings", args=[benchmark.key])).json()
    assert rankings["verdict"] == verdict
    for name in ("feed", "feed_of_all", "embed", "home", "board", "system"):
        arguments = [] if name in ("feed_of_all", "home") else [benchmark.key]
        page = compact(ask(name, *arguments, *(["only"] if name == "system" else [])))
        assert verdict in page, name
        assert not re.search("and beats every|Head to head it|every rival|Only first|rules that have a winner", page), (
            name
        )


@pytest.mark.parametrize("n", [1, 5])
def test_the_feed_of_all_takes_six_queries_however_many_benchmarks_there_are_and_reads_no_ranking(
    make, n, django_assert_num_queries
):
    for number in range(n):
        benchmark = make.published(name=f"Benchmark {number}")
        make.accepted(benchmark, {"A": [1.0] * 5})
        make.publish(benchmark)
    cache.clear()
    with django_assert_num_queries(7) as queries:
        entries = ET.fromstring(Client().get(reverse("feed_of_all")).content).findall(f"{ATOM}entry")
    assert len(entries) == 2 * n
    of_reports = [query["sql"] for query in queries if 'FROM "leaderboard_report"' in query["sql"]]
    assert [("axioms" in sql, "ranking" in sql) for sql in of_reports] == [(True, False)]


def test_the_feed_of_all_tells_of_each_board_what_the_feed_of_its_benchmark_tells(make):
    for name in ("One", "Two", "Three"):
        benchmark = make.published(name=name)
        make.accepted(benchmark, {name: [9.0] * 5})
        make.publish(benchmark)
    entries = ET.fromstring(ask("feed_of_all").content).findall(f"{ATOM}entry")
    alone = {
        entry.findtext(f"{ATOM}id"): ET.tostring(entry)
        for name in ("one", "two", "three")
        for entry in ET.fromstring(ask("feed", name).content).findall(f"{ATOM}entry")
    }
    assert {entry.findtext(f"{ATOM}id"): ET.tostring(entry) for entry in entries} == alone
    assert len(alone) == 6


def test_a_feed_tells_the_same_of_a_board_whose_leaders_are_only_in_its_reports(make):
    make.publish(make.published())
    kept = ask("feed_of_all").content
    ListedBoard.objects.all().delete()
    assert ask("feed_of_all").content == kept


def test_a_weekly_feed_has_one_entry_for_each_week_that_is_over(make, monkeypatch):
    benchmark = make.published(name="Toy")
    for name in ("E", "F"):
        make.accepted(benchmark, {name: [9.0] * 5})
        make.publish(benchmark)
    make.published(name="Other")
    assert entries(ask("feed", benchmark.key, query="?digest=week")) == []
    now = timezone.now()
    monday = (now - timedelta(days=now.weekday())).date()
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=7))
    response = ask("feed", benchmark.key, query="?digest=week")
    (week,) = entries(response)
    year, number, _ = monday.isocalendar()
    assert week["title"] == f"Toy: week of {monday.day} {monday:%b %Y}, E and F first under Borda"
    assert week["id"].endswith(f":benchmark/toy/week/{year}-W{number:02}")
    assert datetime.fromisoformat(week["updated"]).date() == monday + timedelta(days=7)
    assert week["link"].endswith("/b/toy/?revision=3")
    changes = ["3 new boards in this week.", "4 systems accepted", "E accepted.", "F accepted."]
    assert sorted(week["summary"].index(text) for text in changes) == [week["summary"].index(text) for text in changes]
    root = ET.fromstring(response.content)
    assert root.findtext(f"{ATOM}id").endswith(":benchmark/toy/weeks")
    assert root.findtext(f"{ATOM}title") == "Toy on Plurank, weekly"
    assert [one["title"].partition(":")[0] for one in entries(ask("feed_of_all", query="?digest=week"))] == [
        "Other", "Toy",
    ]  # fmt: skip
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=7 * 14))
    assert entries(ask("feed_of_all", query="?digest=week")) == []


@pytest.mark.parametrize("n", [1, 4])
def test_a_weekly_feed_takes_as_many_queries_as_the_other(make, n, monkeypatch, django_assert_num_queries):
    for number in range(n):
        make.published(name=f"Benchmark {number}")
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=7))
    cache.clear()
    with django_assert_num_queries(7):
        assert len(entries(ask("feed_of_all", query="?digest=week"))) == n


def test_there_is_no_other_digest(make):
    benchmark = make.published()
    assert [ask("feed", benchmark.key, query=f"?digest={text}").status_code for text in ("day", "x" * 5000)] == [
        400,
        400,
    ]


@pytest.mark.parametrize("fields", [{"score_view": "own"}, {"anonymous_until": timezone.now() + timedelta(days=1)}])
def test_what_is_hidden_is_in_no_feed_card_or_badge(make, fields):
    benchmark = make.published({"Zebrafish": [2.0, 1.0], "Axolotl": [1.0, 3.0]})
    Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
    _, audience = open_benchmark(benchmark.key)
    said = str(board_card(audience).card)
    for name in ("badge", "embed", "feed", "feed_of_all"):
        said += ask(name, *([] if name == "feed_of_all" else [benchmark.key])).content.decode()
    weeks = weeks_of(benchmark, timezone.now() + timedelta(days=7))
    assert len(weeks) == 1
    said += " ".join(text for week in weeks for text in [week.title, *week.sentences])
    assert not re.search("zebrafish|axolotl", said, re.IGNORECASE)
    there, nowhere = (ask("system_badge", benchmark.key, key) for key in ("zebrafish", "no-such-system"))
    headers = [{**answer.headers, "X-Request-ID": ""} for answer in (there, nowhere)]  # an id is of one request
    assert (there.status_code, there.content, headers[0]) == (404, nowhere.content, headers[1])


def test_the_card_is_a_picture_of_the_size_that_sites_expect_and_names_what_it_cannot_draw_by_its_key(make):
    from PIL import Image

    benchmark = make.published({"日本": [2.0, 1.0], "B": [1.0, 0.0]}, name="Größe ≥ 7")
    response = ask("card", benchmark.key)
    with Image.open(io.BytesIO(response.content)) as image:
        assert (response["Content-Type"], image.format, image.size) == ("image/png", "PNG", (1200, 630))
    assert len(response.content) < 100_000
    card = board_card(open_benchmark(benchmark.key)[1]).card
    key = benchmark.systems.exclude(key="b").get().key
    assert (card.name, card.label, card.winner) == ("Größe ≥ 7", "First under Borda", key)
    assert card.facts == "2 systems × 2 tasks, revision 1"
    assert "日本" not in card.verdict
    page = compact(ask("board", benchmark.key))
    assert f'<meta property="og:image" content="http://testserver{reverse("card", args=[benchmark.key])}">' in page


def test_the_winner_has_the_colour_of_its_part_of_the_bar_or_none_where_the_bar_has_no_part_of_it(make):
    # Four systems share the rules: by mean, by the number of first places, by duels, by the median.
    scores = {"Mean": [9.0, 9.0, 0.0, 0.0, 4.0], "Duel": [5.0, 5.0, 5.0, 5.0, 3.0], "Last": [0.0, 0.0, 1.0, 1.0, 9.0]}
    benchmark = make.published(scores)
    for rule in ("mean", "copeland", "borda", "plurality", "veto"):
        Benchmark.objects.filter(pk=benchmark.pk).update(default_rule=rule)
        cache.clear()
        _, audience = open_benchmark(benchmark.key)
        card, board = board_card(audience).card, build_board(audience, BoardQuery())
        winners = next(column for column in board.columns if column.rule == rule).winner_names
        camps = [sorted(camp.winners) for camp in board.camps]
        place = camps.index(sorted(winners))
        assert card.camp == (place if place < 3 else None), rule
        assert card.camp is None or card.shares[card.camp] == board.camps[place].n_rules


def test_pages_offer_what_everybody_may_see_with_snippets_to_copy(make):
    benchmark = make.published(name="A [b]")
    board = compact(ask("board", benchmark.key, query="?rule=borda"))
    badge = f"http://testserver{reverse('badge', args=[benchmark.key])}"
    assert f"[![A \\[b\\] on Plurank]({badge})](http://testserver/b/{benchmark.key}/)" in board
    assert f"{reverse('embed', args=[benchmark.key])}?top=10&amp;amp;rule=borda" in board
    system = compact(ask("system", benchmark.key, "a"))
    assert f"http://testserver{reverse('system_badge', args=[benchmark.key, 'a'])}" in system
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="private")
    client = Client()
    client.force_login(benchmark.memberships.get().user, backend="django.contrib.auth.backends.ModelBackend")
    private = compact(client.get(reverse("board", args=[benchmark.key])))
    assert "og:image" not in private
    assert "badge.svg" not in private
