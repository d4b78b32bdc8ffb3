"""Keys made from names, and names that are taken for each other."""

import pytest
from django.db import IntegrityError
from hypothesis import given, strategies as st

from leaderboard.common.names import KEY_TRIES, UNNAMED, NearMisses, cut_apart, is_called, make_key, with_free_key
from leaderboard.models import ModelIdentity
from leaderboard.models.benchmarks import KEY_LENGTH, is_key
from ranking_engine.text.confusables import skeleton
from ranking_engine.text.names import name_order_key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("BoolQ", "boolq"), ("GPT 4 (turbo)", "gpt-4-turbo"), ("a__b--c", "a-b-c"), ("Übung", "ubung"),
        ("日本語", "unnamed"), ("--", "unnamed"), ("a/b.c", "abc"), ("x" * 300, "x" * 74),
    ],
)  # fmt: skip
def test_a_key_is_the_slug_of_its_name(name, key):
    assert make_key(name, set()) == key
    is_key(key)


@given(st.lists(st.text(max_size=12), unique_by=lambda name: make_key(name, set()), max_size=8))
def test_names_are_in_the_order_of_their_keys(names: list[str]) -> None:
    in_order = sorted(names, key=name_order_key)
    keys = [make_key(name, set()) for name in in_order if make_key(name, set()) != UNNAMED]
    assert keys == sorted(keys) == sorted(keys, key=name_order_key)


def test_a_key_that_is_taken_is_numbered_from_two_and_stays_short_enough():
    taken = {"x" * 74} | {f"{'x' * 74}-{number}" for number in range(2, 100)}
    key = make_key("x" * 300, taken)
    assert key == "x" * 74 + "-100"
    assert len(key) <= KEY_LENGTH
    is_key(key)


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("GPT-4", ["GPT 4", "GPT 3"], ["GPT 4"]),
        ("Roberta large", ["RoBERTa-large", "BERT", "RoBERTa-largee"], ["RoBERTa-large", "RoBERTa-largee"]),
        ("日本語", ["中文", "العربية"], []),
        ("BERT", ["T5", "GLUE"], []),
        ("abcdefghij", ["abcdefghi1", "abcdefghi2", "abcdefghi3", "abcdefghi4"], 3),
    ],
)
def test_near_names_are_those_that_look_alike_and_those_a_letter_apart(name, known, near):
    near_names = NearMisses(known).of(name)
    assert (len(near_names) if isinstance(near, int) else near_names) == near


def test_after_many_comparisons_only_names_that_look_alike_are_near():
    near = NearMisses([f"System {number}" for number in range(3000)])
    assert near.of("Sistem 17")[0] == "System 17"
    for _ in range(100):
        near.of("Sistem 17")
    assert near.of("Sistem 17") == []
    assert near.of("system-17") == ["System 17"]


def test_names_look_alike_that_differ_in_case_spaces_hyphens_and_compatibility_forms():
    assert skeleton("GPT\u20114 \uff34urbo") == skeleton("gpt_4-Turbo") == "gpt4turbo"
    assert len({skeleton(name) for name in ("GPT-4", "GPT-4+", "GPT-4*", "GPT-4.0")}) == 4


def test_letters_of_other_scripts_do_not_pass_for_latin_ones():
    known = NearMisses(["T5", "Orca X"])
    assert known.of("\u03a45") == known.of("\u04225") == ["T5"]
    assert known.twin("\u041er\u0441\u0430-\u0425") == "Orca X"
    assert known.twin("\u042f5") is None


def test_a_name_of_an_earlier_row_has_its_twin_too():
    known = NearMisses(["BERT large"])
    assert known.twin("T5 base") is None
    known.add("T5-base")
    known.add("T5_BASE")
    assert (known.twin("T5 base"), known.twin("bert-large")) == ("T5-base", "BERT large")


def test_names_that_differ_by_joiners_are_twins():
    known = NearMisses(["\u0645\u06cc\u062e", "Coder \U0001f469\U0001f4bb"])
    assert known.twin("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u062e"
    assert known.twin("coder \U0001f469\u200d\U0001f4bb") == "Coder \U0001f469\U0001f4bb"


def test_a_double_looks_like_another_by_more_than_case_spaces_and_hyphens():
    known = NearMisses(["GPT-4o", "Llama I"])
    assert [known.double(name) for name in ("gpt 4O", "GPT-4o.", "\u13c0PT-4o", "Llama 1", "Llama 2")] == [
        None, "GPT-4o", "GPT-4o", "Llama I", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("", True), ("gpt", True), ("GPT 4", True), (" 4-turbo ", True), ("(TURBO)", True), ("gpt-4", True),
        ("gpt4", False), ("x" * 10_000, False),
    ],
)  # fmt: skip
def test_a_system_is_called_by_a_part_of_its_name_or_of_its_key(text, is_it):
    assert is_called(text, "GPT 4 (turbo)", "gpt-4-turbo") == is_it


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ([], []),
        (["T5", "ERNIE"], ["T5", "ERNIE"]),
        (["x" * 32, "y" * 33], ["x" * 32, "y" * 16 + "…" + "y" * 15]),
        # What all begin with goes first, up to a separator; then the middle.
        (
            ["organisation-12/Model-284B-chat-v1-preview", "organisation-12/Model-284B-chat-v2", "organisation-12/A"],
            ["…Model-284B-chat-v1-preview", "…Model-284B-chat-v2", "organisation-12/A"],
        ),
        # Where they would look the same, they stay whole.
        (
            ["a" * 20 + "1" + "b" * 20, "a" * 20 + "2" + "b" * 20],
            ["a" * 20 + "1" + "b" * 20, "a" * 20 + "2" + "b" * 20],
        ),
    ],
)
def test_names_lose_their_middle_and_can_still_be_told_apart(names, short):
    assert cut_apart(names) == short


@given(st.lists(st.text(alphabet="ab/-", max_size=60), unique=True, max_size=8))
def test_no_two_cut_names_are_the_same(names):
    cut = cut_apart(names, most=12)
    assert len(set(cut)) == len(names)
    assert all(short == name or len(short) <= 12 for short, name in zip(cut, names, strict=True))


@pytest.mark.django_db
def test_a_key_that_another_took_at_the_same_moment_is_chosen_again_and_not_for_ever():
    ModelIdentity.objects.create(key="ada")
    chosen = iter(["ada", "ada", "ada-2"])
    assert with_free_key(lambda: ModelIdentity.objects.create(key=next(chosen))).key == "ada-2"
    tries = []
    with pytest.raises(IntegrityError):
        with_free_key(lambda: tries.append(1) or ModelIdentity.objects.create(key="ada"))
    assert len(tries) == KEY_TRIES
