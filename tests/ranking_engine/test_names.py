from __future__ import annotations

import pytest

from ranking_engine.names import check_name, clean_name, fold_name, name_problem


def test_names_are_trimmed_and_composed():
    assert clean_name("  Turing NLR v5 ") == "Turing NLR v5"
    assert clean_name("Cafe\u0301") == "Caf\u00e9"


def test_names_that_differ_in_case_or_in_composition_are_the_same():
    assert fold_name("STRASSE") == fold_name("straße")
    assert fold_name("Cafe\u0301 ") == fold_name("CAF\u00c9")
    assert fold_name("T5") != fold_name("T6")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        (" \u00a0 ", "is empty"),
        ("a\tb", "holds the control character U+0009"),
        ("a\u0000b", "holds the control character U+0000"),
        ("a\u2028b", "holds the control character U+2028"),
        ("a\u202eb", "holds the control character U+202E"),
        ("=1+1", "begins with '=', which spreadsheets take for a formula"),
        ("@me", "begins with '@', which spreadsheets take for a formula"),
        ("x" * 201, "has 201 characters; at most 200 are allowed"),
    ],
)
def test_bad_names_are_told_what_is_wrong(text, problem):
    assert name_problem(text) == problem
    with pytest.raises(ValueError, match="the task name"):
        check_name(text, "task")


def test_a_good_name_comes_back_clean():
    assert check_name(" GPT-4o (2024-08-06) ") == "GPT-4o (2024-08-06)"
    assert check_name("名前 🙂") == "名前 🙂"
    assert check_name("-Best", allow_formula=True) == "-Best"
