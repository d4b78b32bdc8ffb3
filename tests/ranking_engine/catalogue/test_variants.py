import re

import pytest

from ranking_engine import RULES, rank, rank_all
from ranking_engine.catalogue.registry import get_rule, in_order, read_variants
from ranking_engine.core.synthetic import random_matrix

VARIANTS = [
    *(f"copeland[variant={name}]" for name in RULES["copeland"].options["variant"][1:]),
    *(f"minimax[variant={name}]" for name in RULES["minimax"].options["variant"][1:]),
    *(f"win_rate[variant={name}]" for name in RULES["win_rate"].options["variant"][1:]),
    "borda[ties=average]",
    "bradley_terry[prior=0.1]",
    "positional[vector=12,10,8]",
]


@pytest.mark.parametrize("key", VARIANTS)
def test_a_variant_ranks_as_its_rule_does_with_the_option(key):
    matrix = random_matrix(7, 5, seed=3, missing=0.1)
    rule, _, text = key.rstrip("]").partition("[")
    name, _, value = text.partition("=")
    typed = {"prior": float, "vector": lambda text: tuple(map(float, text.split(",")))}.get(name, str)(value)
    under_option = rank(matrix, rule, **{name: typed})
    assert rank(matrix, key).scores.tolist() == pytest.approx(under_option.scores.tolist(), nan_ok=True)
    assert get_rule(key).key == key


@pytest.mark.parametrize(
    ("key", "own"),
    [
        ("copeland[variant=difference]", "copeland"),
        ("borda[ties=worst]", "borda"),
        ("positional[ vector = 12 , 10,8.0]", "positional[vector=12,10,8]"),
        ("positional[ties=best;vector=2,1]", "positional[vector=2,1;ties=best]"),
    ],
)
def test_a_variant_has_one_key_however_it_is_written(key, own):
    assert get_rule(key).key == own


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("copeland[variant=up]", "expected one of difference, lower_with_ties, lower, upper"),
        ("copeland[strength=margins]", "no such option; copeland has variant"),
        ("copeland[variant]", "expected RULE[NAME=VALUE]"),
        ("copeland[variant=lower;variant=upper]", "states variant twice"),
        ("positional[ties=best]", "needs vector"),
        ("positional[vector=1,2]", "expected numbers that do not rise"),
        ("kemeny[seconds=86400]", "a time limit makes no variant of a rule"),
        ("positional[vector=" + ",".join(["1"] * 1000) + "]", "expected one of mean"),
        ("mean[weights=1]", "no such option; mean has none"),
        ("nobody[variant=lower]", "expected one of mean"),
    ],
)
def test_what_names_no_variant_is_refused(key, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        get_rule(key)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("copeland[variant=lower_with_ties]", "Copeland (lower with ties)"),
        ("borda[ties=average]", "Borda (ties average)"),
        ("bradley_terry[prior=0.5]", "Bradley-Terry (prior 0.5)"),
        ("positional[vector=12,10,8,7,6,5,4,3,2,1]", "Positional (12,10,8,7,6,5,4,3,2,1)"),
        ("positional[vector=12,11,10,9,8,7,6,5,4,3,2]", "Positional (12,11,10,9,8,7,6,5,…,2)"),
    ],
)
def test_a_name_says_what_differs_from_the_rule(key, name):
    assert get_rule(key).name == name


def test_several_variants_are_ranked_side_by_side():
    matrix = random_matrix(6, 4, seed=1)
    rankings = rank_all(matrix, ["copeland", "copeland[variant=lower]", "copeland[variant=upper]"])
    assert list(rankings) == ["copeland", "copeland[variant=lower]", "copeland[variant=upper]"]
    assert [ranking.rule for ranking in rankings.values()] == list(rankings)


def test_variants_follow_their_rule_in_the_order_of_the_catalogue():
    assert in_order(["copeland[variant=lower]", "borda", "mean", "copeland"]) == [
        "mean",
        "borda",
        "copeland",
        "copeland[variant=lower]",
    ]


def test_variants_of_a_board_have_one_order_however_they_are_written():
    first = read_variants(["positional[vector=3,2]", "copeland[variant=upper]", "copeland[variant=lower]"])
    again = read_variants(["copeland[variant=lower]", " positional[ vector=3,2 ] ", *first])
    assert first == again == ("positional[vector=3,2]", "copeland[variant=lower]", "copeland[variant=upper]")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["copeland"], "copeland: expected RULE[NAME=VALUE], such as copeland[variant=lower]"),
        (["borda[ties=worst]"], "borda[ties=worst] is Borda itself, which every board has"),
        (["borda[ties=most]"], "borda.ties=most: expected one of worst, best, average"),
        (["borda[with=mean,kemeny]"], "names may decide between equals under Kemeny"),
        (["ranked_pairs[then=borda]"], "names may decide between equals under Ranked pairs"),
        (["mean[unit=a/b]"], "mean[unit=a/b]: expected letters, digits and hyphens, such as the key of a task"),
        (["mean[unit=a\nb]"], "the name of the task holds the invisible or control character U+000A"),
        (["positional[vector=0.1234567890123]"], "a number in vector has more than 12 digits"),
        (["positional[vector=" + ",".join(["1e11"] * 36) + "]"], "a key has at most 200 characters"),
        (["x" * 10**6], "a variant has at most 200 characters"),
        (["copeland[variant=lower]"] * 10**6, "1,000,000 variants; at most 12 are ranked"),
    ],
)
def test_what_a_board_does_not_take_is_refused_before_anything_is_ranked(texts, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_variants(texts)
