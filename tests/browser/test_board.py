"""The board as a reader uses it. What it shows is worked out again here from the files (`by_hand`)."""

import csv
import io

import pytest

from leaderboard.models import Report
from leaderboard.rankings.verdict import camps_of, short_headline
from ranking_engine import RULES as CATALOGUE
from tests.browser.by_hand import RULES, all_ranks, condorcet_winner, order, read_table, with_medians
from tests.browser.conftest import is_all_published
from tests.browser.pages import board_rows, names, ranks_shown, rule_names

READ = ("rank", "score", "interval")
pytestmark = [pytest.mark.browser, pytest.mark.services]


@pytest.fixture(scope="module")
def glue():
    return read_table("glue")


@pytest.fixture(scope="module")
def glue_ranks(glue):
    return all_ranks(glue)


def test_glue_stands_in_the_order_of_borda_with_every_rank_and_change_right(reader, glue, glue_ranks):
    page = reader.open("/b/glue/")
    assert names(page) == order(glue_ranks["Borda"], medians(page))
    assert by_hand_only(ranks_shown(page)) == {**glue_ranks, "Condorcet": {condorcet_winner(glue): 1}}
    changes = {
        rule: {row["name"]: row["cells"][c]["change"] for row in board_rows(page)}
        for c, rule in enumerate(rule_names(page))
        if rule in glue_ranks
    }
    assert changes == {
        rule: {name: signed(glue_ranks["Borda"][name] - rank) for name, rank in ranks.items()}
        for rule, ranks in glue_ranks.items()
    }


def by_hand_only(ranks_by_rule):
    """What there is an independent figure for."""
    return {rule: ranks for rule, ranks in ranks_by_rule.items() if rule in {*RULES, "Condorcet"}}


def medians(page) -> dict[str, float]:
    """The median rank over all rules that each row states; it orders equals."""
    return {row["name"]: float(row["median"].removeprefix(", median ")) for row in board_rows(page)}


def signed(places: int) -> str:
    """As the page's arrows say it: +2 is two places better."""
    return f"{places:+d}" if places else ""


def test_clicking_a_column_sorts_by_its_rule_and_clicking_again_turns_it_round(reader, glue, glue_ranks):
    page = reader.open("/b/glue/")
    page.locator(".board thead").get_by_role("link", name="Copeland").click()
    page.wait_for_url("**/?sort=copeland")
    assert names(page) == order(glue_ranks["Copeland"], medians(page))
    page.locator(".board thead").get_by_role("link", name="Copeland").click()
    page.wait_for_url("**/?sort=-copeland")
    turned = [glue_ranks["Copeland"][name] for name in names(page)]
    assert turned == sorted(glue_ranks["Copeland"].values(), reverse=True)


def test_the_sentence_and_the_facts_say_who_is_elected(reader, glue, glue_ranks):
    page = reader.open("/b/glue/")
    first = {rule: [name for name, rank in ranks.items() if rank == 1] for rule, ranks in glue_ranks.items()}
    assert (condorcet_winner(glue), first) == (
        "Vega v1",
        {
            "Mean": ["Turing ULR v6"],
            "Plurality": ["Turing NLR v5"],
            "Borda": ["Turing NLR v5"],
            "Copeland": ["Vega v1"],
            "Minimax": ["Vega v1"],
        },
    )
    page_ranks = ranks_shown(page)
    winners = {rule: tuple(name for name, rank in ranks.items() if rank == 1) for rule, ranks in page_ranks.items()}
    electing = [(rule, names, len(names)) for rule, names in winners.items() if names]
    assert page.locator(".headline").inner_text() == short_headline(camps_of(electing), condorcet_winner(glue))
    page.locator(".answer.is-main .answer-more summary").click()  # all rules
    camps = page.locator(".camps li")
    for elected, n_rules in (("Vega v1", "15"), ("Turing ULR v6", "2")):
        camp = camps.filter(has=page.get_by_text(elected, exact=True))
        rules = camp.locator(".camp-rules").inner_text().split(", ")
        assert sorted(rules) == sorted(rule for rule, names in winners.items() if names == (elected,))
        assert camp.locator("strong").inner_text() == n_rules == str(len(rules))
    assert page.locator(".facts-line").inner_text().startswith("87 systems\n9 tasks\nno missing scores")


def test_another_policy_ranks_every_system_of_helm(reader):
    helm = read_table("helm-accuracy")
    page = reader.open("/b/helm-accuracy/")
    assert by_hand_only(ranks_shown(page)) == {**all_ranks(helm), "Condorcet": {}}
    page.locator("summary", has_text="Missing (196)").click()
    page.get_by_role("link", name="Task median filled in").click()
    page.wait_for_url("**/?policy=median")
    filled = all_ranks(helm, filled=with_medians(helm))
    assert by_hand_only(ranks_shown(page)) == {**filled, "Condorcet": {}}
    assert names(page) == order(filled["Copeland"], medians(page))


def test_helm_says_that_some_rules_leave_systems_out_and_why(reader):
    helm = read_table("helm-accuracy")
    n_complete = sum(None not in scores for scores in helm.values())
    page = reader.open("/b/helm-accuracy/")
    page.locator(".answer", has_text="Do the rules agree?").locator(".answer-more summary").click()
    said = page.locator(".answer .coverage").inner_text()
    assert f" rank {n_complete} of 67 systems; the others lack scores" in said
    row = page.locator(".board tbody tr").filter(has_text="Llama 2 (70B)").locator("td")
    lacking = "HellaSwag - EM, OpenbookQA - EM, MS MARCO (regular) - RR@10 and 3 more"
    reason = f"no score on 6 of 16 tasks of weight above 0: {lacking}"
    row.nth(1).locator("summary").press("Enter")
    assert row.nth(1).locator("p").inner_text() == f"Unranked: {reason[0].upper()}{reason[1:]}."
    n_before = row.count() - len(rule_names(page))  # cells that no rule fills
    assert row.nth(n_before + rule_names(page).index("Mean")).text_content() == "–"


def test_the_filter_leaves_the_systems_whose_name_contains_the_text_or_that_have_every_score(reader):
    helm = read_table("helm-accuracy")
    page = reader.open("/b/helm-accuracy/")
    page.get_by_placeholder("System name").fill("cohere")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**/?q=cohere")
    assert sorted(names(page)) == sorted(name for name in helm if "cohere" in name.casefold())
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Only systems with scores on all tasks").check()
    page.get_by_role("button", name="Apply").first.click()
    page.wait_for_url("**complete_only=1**")
    complete = [name for name, scores in helm.items() if "cohere" in name.casefold() and None not in scores]
    assert sorted(names(page)) == sorted(complete)


def test_the_address_carries_the_whole_view(visitors, reader):
    page = reader.open("/b/helm-accuracy/")
    page.locator("summary", has_text="Missing (196)").click()
    page.get_by_role("link", name="Task median filled in").click()
    page.locator("summary", has_text="Compared with").click()
    page.get_by_role("link", name="Plurality").first.click()
    page.locator(".board thead").get_by_role("link", name="Minimax").click()
    page.get_by_role("link", name="Show the rules").click()
    page.get_by_placeholder("System name").fill("a")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**q=a**")
    other = visitors().open(page.url.removeprefix(reader.url))
    assert board_rows(other) == board_rows(page)
    assert other.locator("main").inner_text() == page.locator("main").inner_text()
    assert board_rows(page)[0]["cells"][0]["score"] != ""


def test_scores_and_intervals_are_shown_on_demand_and_explained(reader, make_committed, site):
    scores = {"Ahead": [3.0] * 7 + [1.0], "Behind": [2.0] * 7 + [3.0], "Last": [1.0] * 8}
    benchmark = make_committed.benchmark(scores, name="Eight tasks")
    study = Report.objects.filter(revision__benchmark=benchmark, kind="bootstrap")
    site.wait_until(study.exists, 60, "its study is there")
    page = reader.open(f"/b/{benchmark.key}/")
    page.get_by_role("link", name="Show the rules’ scores and rank intervals").click()
    page.wait_for_url("**/?scores=1")
    rules = rule_names(page)
    cells = {
        row["name"]: [row["cells"][rules.index(rule)][what] for rule in ("Borda", "Copeland") for what in READ]
        for row in board_rows(page)
    }
    # By hand: of eight draws, k are of task 8. An interval leaves 0.57 % of the draws beyond each end. "Behind" has the
    # better Borda score from k = 3 on (6.7 % of the draws); in duels it draws level at k = 4 (1 %), and wins from k = 5
    # on (0.1 %, too rarely to move the interval of "Ahead").
    assert cells == {
        "Ahead": ["1", "14", "1–2", "1", "2", "1"],
        "Behind": ["2", "9", "1–2", "2", "0", "1–2"],
        "Last": ["3", "0", "3", "3", "−2", "3"],
    }
    assert (
        page.locator(".table-note")
        .inner_text()
        .startswith(
            "Under each rank: the rule’s score. Beside it: the 95 % rank interval if the same 8 tasks were "
            "drawn again with replacement, 4,000 times, for each system separately. It assumes 8 tasks, "
            "taken as independent. With only 8 tasks it is wide. Repeating the draws would rarely move an end under "
            "Borda. Slow rules are ranked fewer "
        )
    )
    page.get_by_role("link", name="Rank intervals for all systems at once").click()
    page.wait_for_url("**/?scores=1&simultaneous=1")
    assert "for all systems at once: if the same 8 tasks" in page.locator(".table-note").inner_text()
    page.get_by_role("link", name="Rank intervals for each system separately").click()
    page.wait_for_url("**/?scores=1")


def test_the_second_page_goes_on_where_the_first_ends(reader, make_committed, site):
    scores = {f"System {i:03d}": [float(i), float(i)] for i in range(1, 131)}
    benchmark = make_committed.benchmark(scores, name="A hundred and thirty")
    site.wait_until(is_all_published, 20, "the board is published")
    page = reader.open(f"/b/{benchmark.key}/")
    down = [f"System {i:03d}" for i in range(130, 0, -1)]
    assert (names(page), page.get_by_text("Systems 1–100 of 130").count()) == (down[:100], 1)
    page.get_by_role("navigation", name="Pages of the board, above").get_by_role("link", name="Next").click()
    page.wait_for_url("**/?page=2")
    assert (names(page), page.get_by_text("Systems 101–130 of 130").count()) == (down[100:], 1)


def test_the_download_says_what_the_table_says(reader):
    page = reader.open("/b/helm-accuracy/?sort=minimax&q=a&scores=1")
    response = page.request.get(reader.url + page.locator("#downloads a[href*='/board.csv']").get_attribute("href"))
    downloaded = list(csv.DictReader(io.StringIO(response.text())))
    in_file = [name.removesuffix("_rank") for name in downloaded[0] if name.endswith("_rank")]
    key_of = {CATALOGUE[key].name: key for key in in_file}
    rules = [key_of[name] for name in rule_names(page)]
    assert rules == in_file  # one order everywhere
    assert [[row["system"], *(row[f"{rule}_rank"] for rule in rules)] for row in downloaded] == [
        [row["name"], *(cell["rank"] for cell in row["cells"])] for row in board_rows(page)
    ]
    assert [[short(row[f"{rule}_score"], rule) for rule in rules] for row in downloaded] == [
        [cell["score"] for cell in row["cells"]] for row in board_rows(page)
    ]


def short(score: str, rule: str) -> str:
    """A score to the four digits that the page gives; the average rank is ranked by its negative."""
    if not score:
        return ""
    value = -float(score) if rule == "average_rank" else float(score)
    return f"{value:.{0 if abs(value) >= 1000 else 4}{'f' if abs(value) >= 1000 else 'g'}}".replace("-", "−")


def test_pins_and_columns_are_ticked_and_sent_and_stand_in_the_address(reader, glue_ranks):
    page = reader.open("/b/glue/")
    page.get_by_role("checkbox", name="Pin T5", exact=True).check()
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("Plurality", exact=True).check()
    page.get_by_role("button", name="Pin selected").click()
    page.wait_for_url("**/?pin=t5&rule=plurality")
    assert rule_names(page) == ["Plurality", "Borda"]  # in the order of the catalogue
    by_borda = [name for name in order(glue_ranks["Borda"], medians(page)) if name != "T5"]
    assert names(page) == ["T5", *by_borda]
    ranks = ranks_shown(page)
    assert ranks == {rule: glue_ranks[rule] for rule in ("Plurality", "Borda")}


def test_many_joint_winners_are_counted_not_listed(reader, make_committed, site):
    scores = {f"System {i:02d}": [float((i + t) % 30) for t in range(30)] for i in range(30)}
    benchmark = make_committed.benchmark(scores, name="Thirty joint winners")
    site.wait_until(is_all_published, 20, "the board is published")
    page = reader.open(f"/b/{benchmark.key}/")
    verdict = page.locator(".headline").inner_text()
    assert ("30 systems" in verdict, "System 03" in verdict) == (True, False)
    assert (
        page.locator("#rule-borda dd")
        .inner_text()
        .startswith("Winner: System 00, System 01, System 02, System 03, System 04 and 25 more. ")
    )
