"""The page of who can win, and what a system's page says it would take."""

import html
import re
from copy import deepcopy
from fractions import Fraction
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.cache import cache
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Job
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.studies.prospects import stored as service
from ranking_engine import Pairwise
from tests.markup import compact

SPECIALISTS = {"First": [3.0, 0.0], "Second": [0.0, 3.0], "Rounder": [2.0, 2.0], "Last": [1.0, 1.0]}


@pytest.fixture(autouse=True)
def _nobody_was_counted():
    cache.clear()


def computed(make, scores=SPECIALISTS, **fields):
    benchmark = make.published(scores, **fields)
    run_job(Job.objects.get(kind="prospects", benchmark=benchmark).pk, worker="test")
    return benchmark


@pytest.fixture(scope="module")
def specialists_of_all(make_once):
    return computed(make_once)


@pytest.fixture
def specialists(specialists_of_all, make):
    """A board of the specialists, whose prospects are computed."""
    return deepcopy(specialists_of_all)


def page_text(client, benchmark, query: str = "", name: str = "prospects", *arguments: str) -> str:
    """What stands on the page, as text."""
    response = client.get(reverse(name, args=[benchmark.key, *arguments]) + query)
    assert response.status_code == 200
    text = re.sub(r"<(script|style|svg).*?</\1>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(text))


def test_every_system_stands_with_its_verdict_and_its_evidence(specialists, client):
    page = page_text(client, specialists)
    assert "3 of 4 systems can win head to head under some weights (1 of them only by a tie); 1 cannot" in page
    assert "Cannot win. No weights work: Rounder is ahead of it on every task that counts for it." in page
    assert "Wins with Task 1 100 %" in page
    assert "Ties for first with Task 1 50 %, Task 2 50 %" in page
    assert "It never ties for first without weight on Task 1 and Task 2." in page
    mixture = "against a half-and-half mixture of First and Second it gains on balance on no task that counts."
    assert (
        f"Can tie for first. Under some weights no rival beats it, but under none does it beat every rival: {mixture}"
    ) in page


def test_a_mixture_that_is_ahead_on_balance_is_told_with_its_shares(make, client):
    page = page_text(
        client, computed(make, {"North": [4.0, 1.0, 4.0], "South": [1.0, 4.0, 4.0], "Middle": [2.0, 2.0, 2.0]})
    )
    assert "against a half-and-half mixture of North and South" in page


def test_a_filter_keeps_systems_by_verdict_and_name(specialists, client):
    assert "Rounder is ahead" in page_text(client, specialists, "?verdict=none")
    assert "Second" not in page_text(client, specialists, "?verdict=none").split("Add your own constraints")[0]
    assert client.get(reverse("prospects", args=[specialists.key]) + "?verdict=maybe").status_code == 400


def test_whoever_asks_for_one_system_by_name_is_led_to_what_it_would_take(specialists, client):
    address = reverse("prospects", args=[specialists.key])
    answer = client.get(address, {"system": " second "})
    assert (answer.status_code, answer["Location"]) == (
        302,
        reverse("system", args=[specialists.key, "second"]) + "#prospects",
    )
    assert "2 of 4 systems have “nd” in their name." in page_text(client, specialists, "?system=nd")
    assert "0 of 4 systems have “Nobody” in their name." in page_text(client, specialists, "?system=Nobody")
    assert client.get(address, {"system": " "}).status_code == 200


@pytest.mark.parametrize(
    ("system", "headline"),
    [
        (
            "narrow",
            "It can win head to head: moving 16.7 % of the weight makes it tie, and a little more makes it win: Task 1",
        ),
        ("broad", "With the benchmark’s own weights no rival beats it head to head."),
        ("last", "It cannot win head to head under any weights of the tasks that count."),
    ],
)
def test_the_top_of_a_systems_page_answers_what_it_would_take(make, client, system, headline):
    benchmark = computed(make, {"Narrow": [3.0, 0.0, 0.0], "Broad": [2.0, 2.0, 2.0], "Last": [1.0, -1.0, -1.0]})
    assert headline in page_text(client, benchmark, "", "system", system)


def test_the_page_says_that_it_is_computing_and_links_to_the_revision_before(make, specialists, client):
    make.accepted(specialists, {"New": [5.0, 5.0]})
    make.publish(specialists)
    page = page_text(client, specialists)
    assert re.search("The results of this revision are queued: .*; expect them in (less than a|about) ", page)
    assert b'hx-trigger="every 5s"' in client.get(f"/b/{specialists.key}/prospects/").content  # until they are there
    assert "those of revision 1" in page
    assert "Cannot win." not in page
    assert "Cannot win." in page_text(client, specialists, "?revision=1")
    assert client.get(reverse("prospects", args=[specialists.key]) + "?revision=7").status_code == 404


def test_a_benchmark_without_scores_has_nothing_to_win(make, client):
    assert "Nothing computed yet" in page_text(client, make.benchmark({}, n_tasks=2))


@pytest.mark.parametrize("n", [2, 60])
def test_the_page_takes_three_queries_however_many_systems_there_are(make, client, n, django_assert_num_queries):
    benchmark = computed(make, {f"S{i}": [float(i), float(-i), float(i % 7)] for i in range(n)})
    with django_assert_num_queries(3):
        client.get(reverse("prospects", args=[benchmark.key]))


def test_a_long_list_is_cut_into_pages(make, client):
    benchmark = computed(make, {f"S{i:03}": [float(i), float(-i)] for i in range(130)})
    first, second = page_text(client, benchmark), page_text(client, benchmark, "?page=2")
    assert (first.count("Can win."), "Page 1 of 2" in first, "Page 2 of 2" in second) == (2, True, True)
    assert sum(f"S{i:03} " in second for i in range(130)) >= 30


def test_the_pages_of_glue_hold_what_its_scores_prove(make, client):
    """Takes some seconds: a real leaderboard of 87 systems."""
    benchmark = make.publish(import_folder(FOLDER / "glue", owner=make.user()))
    run_job(Job.objects.get(kind="prospects", benchmark=benchmark).pk, worker="test")
    response = client.get(reverse("prospects", args=[benchmark.key]))
    assert response.content.decode().count('class="prospect is-') == 10  # those that can win
    response = client.get(reverse("prospects", args=[benchmark.key]), {"verdict": "all"})
    assert response.content.decode().count('class="prospect is-') == 87
    stored, _ = service.stored_prospects(benchmark.publication)
    proven = {p.system: p for p in stored.prospects.systems if p.verdict == "none" and len(p.certificate) > 1}
    page = page_text(client, benchmark, "?verdict=all")
    assert page.count("on balance on every task") >= len(proven) > 0


# --- Conditions ------------------------------------------------------------------------------------------------------


def test_conditions_of_the_form_say_who_can_still_win(specialists, client):
    page = page_text(client, specialists, "?of1=task:task-1&least1=75&most1=&more=&less=")
    assert "Task 1 weighs at least 75 %" in page
    assert "1 of 4 systems can win under these conditions. 2 more could win without them." in page


def test_a_proof_names_the_conditions_that_it_needs(specialists, client):
    page = page_text(client, specialists, "?of1=task:task-1&least1=10&most1=90&of2=task:task-2&most2=20")
    kept = "No weights that satisfy “Task 2 weighs at most 20 %” work:"
    assert f"{kept} it loses on balance to First under all of them." in page


def test_conditions_in_words_of_ones_own_say_who_can_still_win(specialists, client):
    page = page_text(client, specialists, "?conditions=Task+1+%3E%3D+0.75%0D%0Aminimise+Task+1")
    assert "1 of 4 systems can win under these conditions." in page
    assert "The set weighs 75 % then." in page


def test_what_no_weights_satisfy_is_told_apart_from_what_a_system_cannot_win(specialists, client):
    page = page_text(client, specialists, "?of1=task:task-1&least1=75&of2=task:task-2&least2=75")
    assert "No weights satisfy these conditions together" in page
    assert "systems can win under these conditions" not in page


def test_winning_may_mean_coming_first_under_a_rule_on_points(specialists, client):
    page = page_text(client, specialists, "?rule=mean")
    assert "3 of 4 systems can win Mean under some weighting of the tasks." in page
    assert "Can win. There are weights under which it has a higher score than every other system." in page
    assert "No weights work: Rounder has a higher score on every task that counts." in page
    page = page_text(client, specialists, "?rule=borda&of1=task:task-1&least1=75")
    assert "1 of 4 systems can win Borda under these conditions." in page
    kept = "No weights that satisfy “Task 1 weighs at least 75 %” work:"
    assert f"{kept} First has more points under all of them." in page


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("?of1=task:task-1&least1=many", "'many' is not a percentage"),
        ("?of1=task:task-1&least1=175", "'175' is not between 0 and 100 %"),
        ("?least1=20", "Condition 1 has a bound and no task or group"),
        ("?of1=task:task-1", "No condition is complete"),
        ("?more=task:task-1", "needs a task or a group on both sides"),
        ("?of1=task:task-9&least1=20", "Unknown task 'task-9'"),
        ("?rule=veto", "'veto' is not a way to win"),
        ("?conditions=Task+1", "'Task 1' is no condition"),
        ("?conditions=minimise+Task+1&goal=minimise&goal_of=task:task-1", "Only one set can be minimised"),
    ],
)
def test_what_cannot_be_read_is_said_and_the_page_stays(specialists, client, query, problem):
    page = page_text(client, specialists, query)
    assert "The conditions cannot be read." in page
    assert problem in page
    assert "Cannot win." in page


def test_a_board_too_large_for_an_answer_on_demand_says_the_limit(specialists, client, monkeypatch):
    monkeypatch.setattr(service, "ON_DEMAND_CELLS", 1)
    response = client.get(reverse("prospects", args=[specialists.key]) + "?conditions=Task+1+%3E%3D+0.5")
    assert response.status_code == 422
    assert "python -m ranking_engine prospects" in response.content.decode()


def test_who_asks_too_often_is_asked_to_wait_and_reads_on(specialists, client, settings):
    settings.API_RATES = settings.API_RATES | {"on_demand": "2/min"}
    path = reverse("prospects", args=[specialists.key])
    statuses = [client.get(f"{path}?conditions=Task+1+%3E%3D+0.{n}").status_code for n in (1, 2, 3)]
    assert (statuses, client.get(path).status_code) == ([200, 200, 429], 200)
    system = reverse("system", args=[specialists.key, "first"])
    assert (client.get(f"{system}?above=last").status_code, client.get(system).status_code) == (429, 200)


# --- One system ------------------------------------------------------------------------------------------------------


def test_a_system_page_says_what_it_would_take(make, client):
    benchmark = computed(make, {"A": [1.0, 1.0, 2.0], "B": [2.0, 2.0, 1.0]})
    page = page_text(client, benchmark, "", "system", "a")
    change = "moves 16.7 % of the weight: Task 3 from 33.3 % to 50 %"
    assert f", the smallest change that makes it lose to no rival head to head {change}" in page
    assert "With the benchmark’s own weights that is already so." in page_text(client, benchmark, "", "system", "b")


def test_a_system_page_says_what_puts_it_above_another(specialists, client):
    page = page_text(client, specialists, "?above=rounder", "system", "last")
    assert "Nothing can: Rounder is ahead of Last on every task that counts for it." in page
    assert "Some weights put First above Second." in page_text(client, specialists, "?above=second", "system", "first")


def test_a_system_page_says_that_its_prospects_are_computed(make, client):
    page = page_text(client, make.published(SPECIALISTS), "", "system", "first")
    assert "The results of this revision are queued: " in page


def test_the_board_leads_to_the_prospects(specialists, client):
    link = f'<a href="{reverse("prospects", args=[specialists.key])}">Who can win'
    assert link in compact(client.get(reverse("board", args=[specialists.key])))


def test_the_smallest_change_leads_to_every_rule_under_these_weights(make, client):
    benchmark = computed(make, {"A": [3.0, 2.0, 2.0], "B": [2.0, 3.0, 1.0], "C": [1.0, 1.0, 3.0]})
    page = client.get(reverse("system", args=[benchmark.key, "c"])).content.decode()
    address = html.unescape(re.search(r'href="([^"]*)"\s*>Every rule with these weights', page)[1])
    query = dict(parse_qsl(urlsplit(address).query))
    weights = [Fraction(entry.partition(":")[2]) for entry in query["weights"].split(",")]
    matrix = revision_matrix(benchmark.publication.revision).matrix.with_weights(weights)
    assert not Pairwise.of(matrix).beats[:, matrix.system_names.index("c")].any()  # it loses to nobody
    assert client.get(address).status_code == 200


def test_a_long_list_begins_with_those_who_can_win_and_has_the_others_on_request(make, client):
    """One system is ahead everywhere, one wins a task; 22 are behind both on every task, and two have no score."""
    scores = (
        {"First": [9.0, 9.0, 1.0], "Second": [8.0, 8.0, 9.0]}
        | {f"Behind {k:02}": [k / 9, k / 9, 0.0] for k in range(22)}
        | {f"Unscored {k}": [None] * 3 for k in range(2)}
    )
    benchmark = computed(make, scores)
    path = f"/b/{benchmark.key}/prospects/"
    page = client.get(path)
    assert [row.name for row in page.context["page"].rows] == ["First", "Second"]
    hidden = (
        "22 systems that cannot win are not listed here; <em>All</em> has their proofs. "
        "2 systems without a score on a task of weight above 0 are not listed here either."
    )
    assert hidden in " ".join(html.unescape(page.text).split())
    links = [(link.name, link.n, link.is_active) for link in page.context["links"].verdicts]
    assert links[:2] == [("Can win or tie", 2, True), ("All", 26, False)]
    assert page.text.index('id="conditions"') < page.text.index('class="prospects"')
    whole = client.get(f"{path}?verdict=all")
    assert (whole.context["page"].n_shown, whole.context["page"].n_hidden) == (26, 0)
    assert client.get(f"{path}?q=behind 03").context["page"].rows[0].name == "Behind 03"
    assert client.get(f"{path}?verdict=nonsense").status_code == 400
