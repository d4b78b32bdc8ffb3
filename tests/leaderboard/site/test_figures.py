"""The figures as they stand in the rendered pages, read back and held against the same worked out by other means."""

import csv
import io
import re
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark, Job
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import confirm_draft
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine import RULES, ScoreMatrix, rank
from tests.factories import TOY
from tests.leaderboard.site.rules import board_rules

BACKEND = "django.contrib.auth.backends.ModelBackend"
# By hand from the orders of the toy (`tests/factories.py`): rank of A, B, C, D.
RANKS = {
    "Mean": [4, 1, 2, 3],
    "Plurality": [1, 2, 2, 2],
    "Borda": [4, 1, 2, 3],
    "Condorcet": [None, 1, None, None],
    "Copeland": [4, 1, 2, 3],
    "Minimax": [2, 1, 2, 2],
}
SCORES = {"Plurality": [2, 1, 1, 1], "Borda": [6, 9, 8, 7], "Copeland": [-3, 3, 1, -1], "Minimax": [-3, 0, -3, -3]}


class Tables(HTMLParser):
    """Every table of a page as rows of texts, what is for screen readers only left out; plus the page's whole text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self._hidden: list[bool] = []
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in ("input", "meta", "link", "col", "br", "line", "path", "hr"):
            return
        classes = set((dict(attributes).get("class") or "").split())
        self._hidden.append(bool({"visually-hidden", "sr"} & classes))
        for arrow in {"up": "↑", "down": "↓"}.keys() & classes:  # the style sheet draws them
            self.handle_data({"up": "↑", "down": "↓"}[arrow])
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_startendtag(self, tag, attributes):
        """`<line ... />` holds nothing."""

    def handle_endtag(self, tag):
        if self._hidden:
            self._hidden.pop()
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data):
        self.text += data
        if self._in_cell and not any(self._hidden):
            self.tables[-1][-1][-1] += " ".join(data.split())


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


def page(path: str, user=None, **parameters: str) -> Tables:
    client = Client()
    if user:
        client.force_login(user, backend=BACKEND)
    answer = client.get(path, parameters)
    assert answer.status_code == 200
    return Tables(answer.content.decode())


def board_path(benchmark: Benchmark, route: str = "board") -> str:
    return reverse(route, args=[benchmark.key])


def board_ranks(content: Tables) -> dict[str, dict[str, int | None]]:
    """By rule, every system's rank as the table says it."""
    table = content.tables[0]
    rules = rule_names(table)
    ranks: dict[str, dict[str, int | None]] = {rule: {} for rule in rules}
    for row in table[2:]:
        name = re.sub(r"^(=?\d+|–)", "", row[0])
        for rule, cell in zip(rules, row[3:], strict=True):
            place = re.match(r"=?(\d+)", cell)
            ranks[rule][name] = int(place.group(1)) if place else None
    return ranks


def rule_names(table: list[list[str]]) -> list[str]:
    """The rules of the columns, without the signs beside their names."""
    longest_first = sorted((rule.name for rule in RULES.values()), key=len, reverse=True)
    return [next(name for name in longest_first if head.startswith(name)) for head in table[1][3:]]


def test_the_board_of_the_toy_shows_the_ranks_by_hand(make):
    board = page(board_path(make.published()))
    ranks = board_ranks(board)
    assert {rule: [ranks[rule][name] for name in "ABCD"] for rule in RANKS} == RANKS
    assert [re.sub(r"^\d+", "", row[0]) for row in board.tables[0][2:]] == ["B", "C", "D", "A"]
    assert "Condorcet winner" in board.text
    assert re.search(
        r"B wins alone under \d+ of \d+ rules with a winner and beats every other system "
        r"head to head \(Condorcet winner\)\.",
        board.text,
    )


def test_the_board_of_the_toy_shows_its_changes_and_ranges(make):
    table = page(board_path(make.published())).tables[0]
    rows = {re.sub(r"^\d+", "", row[0]): row for row in table[2:]}
    places = {rule: 3 + k for k, rule in enumerate(rule_names(table))}
    assert [rows[name][places["Plurality"]] for name in "ABCD"] == ["1↑3", "=2↓1", "=2", "=2↑1"]
    assert [rows[name][places["Minimax"]] for name in "ABCD"] == ["=2↑2", "1", "=2", "=2↑1"]
    assert [rows[name][2] for name in "ABCD"] == ["5/5"] * 4


def test_the_board_of_the_toy_shows_the_rules_scores_by_hand(make):
    table = page(board_path(make.published()), scores="1", sort="name").tables[0]
    places = {rule: 3 + k for k, rule in enumerate(rule_names(table))}
    for rule, scores in SCORES.items():
        cells = [row[places[rule]] for row in table[2:]]
        texts = [str(score).replace("-", "\N{MINUS SIGN}") for score in scores]
        assert all(cell.endswith(text) for cell, text in zip(cells, texts, strict=True))


@pytest.mark.parametrize("policy", ["undefined", "drop_systems", "drop_tasks", "median", "worst"])
def test_the_board_under_any_policy_shows_the_engines_ranks(make, policy):
    scores = TOY | {"E": [4.5, None, 1.5, None, 2.5], "F": [None] * 5}
    benchmark = make.published(scores, missing_policy="drop_systems")
    ranks = board_ranks(page(board_path(benchmark), policy=policy))
    matrix = revision_matrix(benchmark.publication.revision).matrix
    answered = {key: rank(matrix, key, missing=policy) for key in board_rules()}
    assert set(ranks) == {RULES[key].name for key, own in answered.items() if own.status != "undefined"} | {"Borda"}
    for rule in (rule for rule in RULES.values() if rule.name in ranks):
        expected = {
            n.upper(): int(r) if r >= 1 else None
            for n, r in zip(matrix.system_names, rank(matrix, rule.key, missing=policy).ranks, strict=True)
        }
        assert ranks[rule.name] == expected


def test_the_download_holds_the_ranks_and_scores_of_the_board(make):
    benchmark = make.published()
    rows = list(csv.DictReader(io.StringIO(Client().get(board_path(benchmark, "board_csv")).content.decode())))
    by_name = {row["system"]: row for row in rows}
    keys = {rule.name: key for key, rule in RULES.items()}
    for rule, ranks in RANKS.items():
        assert [by_name[name][f"{keys[rule]}_rank"] for name in "ABCD"] == [str(r or "") for r in ranks]
    for rule, scores in SCORES.items():
        assert [float(by_name[name][f"{keys[rule]}_score"]) for name in "ABCD"] == scores


def test_the_download_holds_every_digit_of_a_score(make):
    benchmark = make.published({"A": [0.1], "B": [1 / 3], "C": [None]})
    rows = csv.DictReader(io.StringIO(Client().get(board_path(benchmark, "board_csv")).content.decode()))
    assert {row["system"]: row["mean_score"] for row in rows} == {"A": "0.1", "B": "0.333333333333", "C": ""}


def test_before_the_first_board_there_is_nothing_to_download(make):
    answer = Client().get(board_path(make.benchmark(), "board_csv"))
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_page_of_a_system_shows_its_ranks_and_scores(make):
    benchmark = make.published()
    for name in "ABCD":
        ranks, scores = page(reverse("system", args=[benchmark.key, name.lower()])).tables[:2]
        cells = {row[0]: row[1] for row in ranks[1:]}
        for rule, by_name in RANKS.items():
            rank_text = re.match(r"=?(\d+)of\d$|Unranked", cells[rule].replace(" ", ""))
            assert (int(rank_text.group(1)) if rank_text.group(1) else None) == by_name["ABCD".index(name)]
        assert [row[1] for row in scores[1:]] == [f"{score:g}" for score in TOY[name]]


def test_the_list_shows_the_winner_and_the_disagreement(make):
    make.published(name="Toy")
    text = " ".join(page("/").text.split())
    assert "Toy 4 systems 5 tasks revision 1" in text
    elected = [rank(ScoreMatrix(list(TOY.values()), system_names=list(TOY)), rule).winners for rule in board_rules()]
    n_electing, n_for_b = sum(map(bool, elected)), elected.count((1,))
    assert any(1 in winners and len(winners) > 1 for winners in elected)
    assert f"First under Borda B Wins most often: alone under {n_for_b} of {n_electing} rules B" in text


@pytest.mark.parametrize("name", ["E", "Aa"])
def test_the_preview_promises_what_the_board_then_shows(make, name):
    benchmark, user = make.published(), make.user()
    row = SubmittedRow(name, {f"task-{t}": text for t, text in enumerate(["5", "0", "5", "0", "2.5"], start=1)})
    draft = make_draft(audience_of(user, benchmark), [row], source="form")
    effects = page(reverse("draft", args=[draft.uuid]), user).tables[0]
    promised = {row[0]: int(row[1]) for row in effects[1:] if row[1].isdigit()}
    batch = confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    make.publish(benchmark)
    ranks = {rule: rank_of[name] for rule, rank_of in board_ranks(page(board_path(benchmark))).items()}
    assert promised == {rule: value for rule, value in ranks.items() if value}
    table = page(reverse("batch", args=[batch.uuid])).tables[0]
    came = {row[0]: re.search(r"(\d+)$", row[1]) for row in table[1:]}
    assert {rule: int(place[1]) for rule, place in came.items() if place} == promised


def test_the_status_counts_what_waits(make):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1.0] * 5})
    queues, jobs = page("/status/").tables
    waiting = [["Rankings", "2", "0"], ["Studies", "10", "0"], ["Scoring", "0", "0"]]
    assert [row[:3] for row in queues[1:]] == waiting
    first, second = ([(row[1], row[4]) for row in jobs[1:] if row[3] == number] for number in "12")
    positions = {
        "Rank intervals": 3,
        "Rankings": 1,
        "Rules: properties": 5,
        "Significance": 2,
        "Stability: plan of the studies": 4,
        "Who can win": 1,
    }
    assert dict(first) == dict.fromkeys(positions, "queuedwill probably be skipped: revision 2 is newer")
    assert dict(second) == {name: f"queuedposition {k}, less than a minute" for name, k in positions.items()}


def test_a_board_that_waits_for_a_newer_revision_says_so_and_mixes_nothing(make):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [9.0] * 5})
    board = page(board_path(benchmark))
    assert "Revision 2 was accepted and is being computed." in " ".join(board.text.split())
    ranks = board_ranks(board)["Borda"]
    assert [ranks[n] for n in "ABCD"] == RANKS["Borda"]
    assert "E" not in ranks


def test_the_pages_say_why_a_rule_has_no_interval_and_which_rules_were_drawn_fewer_times(make, monkeypatch):
    monkeypatch.setattr("ranking_engine.stability.bootstrap.MAX_SECONDS", 0.0015)  # Kemeny's order takes longer
    # Weights that no kernel adds up exactly: the rules are ranked one resample after the other.
    tasks = [TaskSpec(f"T{t}", weight=Decimal(9_999_999 if t else "0.000000001")) for t in range(8)]
    benchmark = make.benchmark({f"S{i}": [float(i + t % 2) for t in range(8)] for i in range(5)}, tasks=tasks)
    study = Job.objects.get(kind="bootstrap")
    parameters = study.parameters | {"n_resamples": 40, "budget": 0, "least": 17}
    Job.objects.filter(pk=study.pk).update(parameters=parameters)
    benchmark = make.publish(benchmark, studies=True)
    board = page(f"{board_path(benchmark)}?scores=1").text
    reason = re.search(r"No interval under Kemeny: (ranking one resample would take about [0-9.e-]+ s)\.", board)[1]
    assert "17 times for Coombs" in board
    assert "times for Borda" not in board
    system = page(reverse("system", args=[benchmark.key, "s1"]))
    assert reason in system.text
    assert {row[0]: row[2] for row in system.tables[0] if len(row) == 3}["Kemeny"] == "–"
    assert f"No interval under Kemeny: {reason}." in page(reverse("rule", args=[benchmark.key, "kemeny"])).text
    intervals = {
        rule: Client().get(reverse("api:ranking", args=[benchmark.key, rule])).json()["intervals"]
        for rule in ("kemeny", "coombs", "borda")
    }
    assert (intervals["kemeny"]["status"], intervals["kemeny"]["reason"]) == ("undefined", reason)
    assert [intervals[rule]["n_resamples"] for rule in ("coombs", "borda")] == [17, 40]


def test_rank_intervals_are_those_of_the_study(make):
    from leaderboard.rankings.published import published_board

    scores = {f"S{i}": [float(i + t % 2) for t in range(8)] for i in range(5)}
    benchmark = make.benchmark(scores)
    study = Job.objects.get(kind="bootstrap")
    Job.objects.filter(pk=study.pk).update(parameters=study.parameters | {"n_resamples": 40})
    benchmark = make.publish(benchmark, studies=True)
    columns = {c.name: c for c in published_board(benchmark.publication).columns}
    for i in range(5):
        ranks = page(reverse("system", args=[benchmark.key, f"s{i}"])).tables[0]
        texts = {row[0]: row[2] for row in ranks[1:] if len(row) == 3}
        assert texts
        for rule, text in texts.items():
            low, high = int(columns[rule].lower[i]), int(columns[rule].upper[i])
            assert text == (str(low) if low == high else f"{low}–{high}")
