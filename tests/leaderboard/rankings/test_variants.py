"""Variants of rules as columns of a hosted board: ranked, stored, hashed and told as the rules themselves are."""

from dataclasses import replace
from html import unescape
from urllib.parse import quote

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.tasks import apply_proposal, present_proposal, preview_proposal
from leaderboard.computing.rankings import split_rules
from leaderboard.models import Revision
from leaderboard.rankings.configuration import configuration_of, present_configuration
from leaderboard.rankings.published import published_board
from leaderboard.rankings.redaction import HIDDEN_REASON, redacted
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from leaderboard.rankings.scores import systems_at
from ranking_engine.catalogue.registry import MAX_VARIANTS
from ranking_engine.files.tables import TableError
from tests.markup import compact

pytestmark = pytest.mark.django_db

SCORES = {"Ada": [9, 5, 5], "Bob": [7, 8, 5], "Cleo": [1, 7, 2], "Dan": [1, 1, 9]}
LOWER, POINTS, SUCCESS = "copeland[variant=lower]", "positional[vector=3,2,1]", "win_rate[variant=success_rate]"
PRIOR = "bradley_terry[prior=0.5]"
PAGES = ("board", "agreement", "what_if", "head_to_head")


def column_of(benchmark, rule):
    return next(column for column in published_board(benchmark.publication).columns if column.rule == rule)


def scores_under(benchmark, rule):
    names = [system.name for system in revision_matrix(benchmark.publication.revision).systems]
    return dict(zip(names, column_of(benchmark, rule).scores.tolist(), strict=True))


def victories():
    """Of how many rivals each system is ahead on more tasks than it is behind."""

    def lead(a, b):
        return sum((x > y) - (x < y) for x, y in zip(SCORES[a], SCORES[b], strict=True))

    return {a: float(sum(lead(a, b) > 0 for b in SCORES)) for a in SCORES}


def points():
    """3, 2 and 1 for the first three places of each task; who shares places has the last one of them."""
    totals = dict.fromkeys(SCORES, 0.0)
    for t in range(3):
        for name, row in SCORES.items():
            place = sum(other[t] >= row[t] for other in SCORES.values())
            totals[name] += {1: 3, 2: 2, 3: 1}.get(place, 0)
    return totals


def success_rate():
    """The mean over tasks of the share of the rivals that a system is strictly above."""
    return {
        name: sum(row[t] > other[t] for t in range(3) for other in SCORES.values()) / 9 for name, row in SCORES.items()
    }


def hash_of(benchmark):
    revision = Revision.objects.select_related("configuration").filter(benchmark=benchmark).latest("number")
    return input_hash(revision_matrix(revision), configuration_of(revision))


def test_a_column_of_a_variant_has_the_figures_of_its_definition(make):
    benchmark = make.published(SCORES, variants=[SUCCESS, POINTS, LOWER])
    assert scores_under(benchmark, LOWER) == victories()
    assert scores_under(benchmark, POINTS) == points()
    assert scores_under(benchmark, SUCCESS) == pytest.approx(success_rate())


def test_variants_stand_behind_their_rules_on_every_page_that_has_the_rules(make, client):
    benchmark = make.published(SCORES, variants=[POINTS, LOWER])
    keys = [column.rule for column in published_board(benchmark.publication).columns]
    assert keys[keys.index("copeland") + 1] == LOWER
    assert keys[keys.index("veto") + 1] == POINTS
    for name in PAGES:
        page = unescape(client.get(reverse(name, args=[benchmark.key])).content.decode())
        assert ("Copeland (lower)" in page, "Positional (3,2,1)" in page) == (True, True), name


def test_a_variant_has_its_own_page_and_files(make, client):
    benchmark = make.published(SCORES, variants=[POINTS])
    address = reverse("rule", args=[benchmark.key, POINTS])
    assert address == f"/b/{benchmark.key}/rules/positional%5Bvector=3,2,1%5D/"
    page = unescape(compact(client.get(address)))
    assert "Winner under Positional (3,2,1): Bob." in page
    assert "<dd>Positional with vector = 3,2,1, ties = worst.</dd>" in page
    assert "Its properties" not in page
    api = f"/api/v1/benchmarks/{benchmark.key}/rankings/{quote(POINTS)}/"
    entry = client.get(api).json()
    assert (entry["rule"], entry["name"]) == (POINTS, "Positional (3,2,1)")
    assert {row["name"]: row["score"] for row in entry["results"]} == points()
    table = client.get(f"{api}?format=csv").content.decode()
    assert "\nbob,Bob,1,6.0," in table
    heads = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/").json()["results"]
    assert POINTS in [head["rule"] for head in heads]
    properties = client.get(f"{api}properties/").json()
    assert (properties["results"], properties["reason"]) == (
        [],
        "violations are listed for Positional itself, not for its variants",
    )


def test_a_combined_rule_is_a_column_with_a_page_as_variants_are(make, client):
    combined = "plurality[then=borda]"
    benchmark = make.published(SCORES, variants=[combined])
    plurality, borda = column_of(benchmark, "plurality").ranks, column_of(benchmark, "borda").ranks
    pairs = list(zip(plurality.tolist(), borda.tolist(), strict=True))
    expected = [1 + sum(other < pair for other in pairs) for pair in pairs]
    assert column_of(benchmark, combined).ranks.tolist() == expected
    page = unescape(compact(client.get(reverse("rule", args=[benchmark.key, combined]))))
    assert "<dd>Plurality with then = borda.</dd>" in page


def test_the_mean_in_the_unit_of_a_task_is_a_column_with_a_page(make, client):
    benchmark = make.benchmark(SCORES)
    task = benchmark.tasks.order_by("order").first().key
    unit = f"mean[unit={task}]"
    owner, proposal = benchmark.memberships.get().user, replace(present_proposal(benchmark), variants=[unit])
    token = preview_proposal(benchmark, proposal).token
    apply_proposal(benchmark, proposal, author=owner, token=token)
    benchmark = make.publish(benchmark)
    assert column_of(benchmark, unit).status == "ranked"
    page = unescape(compact(client.get(reverse("rule", args=[benchmark.key, unit]))))
    assert f"<dd>Mean with unit = {task}.</dd>" in page


def test_a_variant_with_a_long_key_is_found_everywhere(make, client):
    rule = f"positional[vector={','.join(str(number) for number in range(70, 11, -1))}]"
    assert len(rule) > 190
    benchmark = make.published(SCORES, variants=[rule])
    words = {"head_to_head": "Positional (70,69", "export": "bob", "badge": "Bob", "what_if": "Positional (70,69"}
    for name, word in words.items():
        address = reverse(name, args=[benchmark.key, "ranks", "csv"] if name == "export" else [benchmark.key])
        answer = client.get(address, {"rule": rule})
        assert (answer.status_code, word in answer.content.decode()) == (200, True), name


@pytest.mark.parametrize("rule", ["copeland[variant=upper]", "copeland[variant=none]", "copeland[", "x" * 5000])
def test_a_variant_that_the_board_does_not_have_is_not_found(make, client, rule):
    benchmark = make.published(SCORES, variants=[LOWER])
    assert client.get(reverse("rule", args=[benchmark.key, rule])).status_code == 404
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/{quote(rule)}/").status_code == 404
    assert client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/{quote(rule)}/properties/").status_code == 404


def test_other_weights_rank_under_the_variants_too(make, client):
    benchmark = make.published(SCORES, variants=[POINTS])
    _, second, third = benchmark.tasks.order_by("order").values_list("key", flat=True)
    api = f"/api/v1/benchmarks/{benchmark.key}/rankings/{quote(POINTS)}/?weights={second}:0,{third}:0"
    scores = {row["name"]: row["score"] for row in client.get(api).json()["results"]}
    assert scores == {"Ada": 3.0, "Bob": 2.0, "Cleo": 0.0, "Dan": 0.0}


def test_variants_have_intervals_and_tests_of_their_own(make):
    table = {name: [*row, *row[::-1], *row] for name, row in SCORES.items()}
    benchmark = make.benchmark(table, variants=[POINTS, LOWER])
    benchmark = make.publish(benchmark, studies=True)
    for rule in (POINTS, LOWER):
        column = column_of(benchmark, rule)
        assert (column.lower <= column.ranks).all()
        assert (column.ranks <= column.upper).all()
    assert {POINTS, LOWER} <= set(published_board(benchmark.publication).tests["rules"])


def test_the_hash_of_the_inputs_covers_variants_and_is_as_before_without_any(make):
    without, other = make.benchmark(SCORES), make.benchmark(SCORES, variants=[LOWER])
    again = make.benchmark(SCORES, variants=["copeland[ variant = lower ]", LOWER])
    assert "variants" not in present_configuration(without).content
    assert present_configuration(other).content["variants"] == [LOWER]
    assert hash_of(other) == hash_of(again) != hash_of(without)


def test_a_folder_brings_the_variants_back_with_the_same_hash(make, tmp_path):
    first = make.benchmark(SCORES, variants=[POINTS, LOWER, SUCCESS])
    call_command("export_benchmark", first.key, str(tmp_path / "out"), verbosity=0)
    assert f'variants = ["{POINTS}", "{LOWER}", "{SUCCESS}"]\n' in (tmp_path / "out" / "benchmark.toml").read_text()
    second = import_folder(tmp_path / "out", owner=make.user(), key="again")
    assert (second.variants, hash_of(second)) == ([POINTS, LOWER, SUCCESS], hash_of(first))


def test_a_folder_with_a_wrong_variant_is_refused_with_its_line(make, tmp_path):
    (tmp_path / "scores.csv").write_text("system,T\nAda,1\nBob,2\n")
    (tmp_path / "benchmark.toml").write_text("gamma = 1\nvariants = ['copeland[variant=none]']\n")
    with pytest.raises(TableError, match=r"line 2.*`variants`: copeland.variant=none: expected one of difference,"):
        import_folder(tmp_path, owner=make.user())


def test_new_variants_make_a_revision_that_the_history_explains(make, client):
    benchmark = make.published(SCORES)
    owner = benchmark.memberships.get().user
    proposal = replace(present_proposal(benchmark), variants=[LOWER])
    preview = preview_proposal(benchmark, proposal)
    assert [(change.of, change.before, change.after) for change in preview.changes] == [("variants", "", LOWER)]
    assert "Copeland (lower)" in [effect.rule_name for effect in preview.effects]
    assert apply_proposal(benchmark, proposal, author=owner, token=preview.token).number == 2
    entry = benchmark.audit_entries.get(of="variants")
    assert (entry.before, entry.after, entry.actor) == ("", LOWER, owner)
    benchmark = make.publish(benchmark)
    history = unescape(compact(client.get(reverse("history", args=[benchmark.key]))))
    assert f"variants: nothing → {LOWER}" in history
    changes = client.get(reverse("history_compare", args=[benchmark.key]), {"rule": LOWER})
    assert changes.status_code == 200


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        (["copeland[variant=none]"], "expected one of difference, lower_with_ties, lower, upper."),
        (["copeland"], "expected RULE[NAME=VALUE], such as copeland[variant=lower]."),
        (["copeland[variant=difference]"], "is Copeland itself, which every board has."),
        (["positional[vector=1,2]"], "expected numbers that do not rise, such as 12,10,8."),
        ([f"positional[vector={','.join(['9'] * 500)}]"], "a variant has at most 200 characters."),
        ([f"positional[vector={k}]" for k in range(MAX_VARIANTS + 1)], "13 variants; at most 12 are ranked."),
        (["mean[unit= ]"], "mean[unit= ]: the name of the task is empty."),
        (["mean[unit=\u3000]"], "the name of the task is empty."),
        (["mean[unit=a\x00b]"], "leave it out."),
        ("copeland[variant=lower]", "It is no list of texts."),
        ([1], "It is no list of texts."),
    ],
)
def test_what_is_no_variant_is_refused_with_what_is_allowed(make, variants, message):
    with pytest.raises(ValidationError) as refused:
        make.benchmark(SCORES, variants=variants)
    (said,) = refused.value.message_dict["variants"]
    assert said.endswith(message)


def test_variants_of_slow_rules_come_after_the_board_as_these_do():
    winning = "ranked_pairs[strength=winning_votes]"
    small, large = (split_rules(n, 20, [winning, LOWER]) for n in (10, 2000))
    assert {winning, LOWER} <= set(small.quick)
    assert winning in large.slow
    assert large.computed.index(winning) == large.computed.index("ranked_pairs") + 1


def test_the_reasons_of_a_variant_are_hidden_where_those_of_its_rule_are(make):
    benchmark = make.published(SCORES, variants=[PRIOR], score_view="own")
    board, systems = published_board(benchmark.publication), systems_at(benchmark.publication.revision)
    column = replace(column_of(benchmark, PRIOR), status="undefined", reason="Ada wins every comparison.")
    seen, _ = redacted(replace(board, columns=[column]), systems, audience_of(make.user(), benchmark))
    assert seen.columns[0].reason == HIDDEN_REASON
