from __future__ import annotations

import time

from ranking_engine.text.close_names import CloseNames


def test_the_closest_names_come_first_as_they_are_written():
    close = CloseNames(["RoBERTa-large", "BERT", "RoBERTa-larger"])
    assert close.of("roberta-large", n=3) == ["RoBERTa-large", "RoBERTa-larger"]
    assert close.suggestion("BERTT") == "; did you mean 'BERT'?"
    assert close.suggestion("GPT") == ""
    close.add("GPT-4")
    assert close.suggestion("GPT-5") == "; did you mean 'GPT-4'?"


def test_long_words_and_long_names_have_no_close_ones():
    assert CloseNames(["x" * 61]).of("x" * 60) == []
    assert CloseNames(["x" * 60]).of("x" * 61) == []
    assert CloseNames(["x" * 60]).of("x" * 59) == ["x" * 60]


def test_all_words_of_an_upload_share_one_allowance():
    """A likeness of such names takes milliseconds, and there are ten million pairs of them."""
    close = CloseNames([f"{number:b}".zfill(60) for number in range(1000)])
    before = time.process_time()
    n_answered = sum(bool(close.of(f"{number:b}".rjust(60, "1"))) for number in range(10_000))
    assert time.process_time() - before < 3
    assert n_answered < 10


def test_short_names_use_the_allowance_up_too():
    close = CloseNames([f"{number}" for number in range(10_000)])
    before = time.process_time()
    for number in range(10_000):
        close.of(f"x{number}")
    assert time.process_time() - before < 3
