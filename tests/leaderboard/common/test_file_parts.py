"""Files in parts: the same bytes, few at a time, and an error where nothing was sent yet."""

import random

import pytest
from django.test import RequestFactory

from leaderboard.common import file_parts
from leaderboard.common.file_parts import file_response, in_parts

TEXT = "text/plain; charset=utf-8"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(file_parts, "PART_BYTES", 100)


def answer(texts, method="GET"):
    return file_response(RequestFactory().generic(method, "/"), texts, TEXT)


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_the_texts_in_order_each_of_about_the_same_size(seed):
    draw = random.Random(seed)
    texts = ["".join(draw.choices("aü模😀\n", k=draw.randrange(40))) for _ in range(draw.randrange(60))]
    parts = list(in_parts(texts))
    assert b"".join(parts) == "".join(texts).encode()
    assert all(100 <= len(part) < 100 + 4 * 40 for part in parts[:-1])


def test_no_text_is_an_empty_file():
    response = answer([])
    assert (response.streaming, response.content, response["Content-Type"]) == (False, b"", TEXT)


def test_a_file_of_one_part_is_sent_whole_and_a_longer_one_while_it_is_made():
    made = []

    def lines(n):
        for i in range(n):
            made.append(i)
            yield "x" * 50

    assert (answer(lines(2)).content, made) == (b"x" * 100, [0, 1])
    made.clear()
    response = answer(lines(40))
    assert (response.streaming, len(made)) == (True, 4)  # two parts
    assert b"".join(response.streaming_content) == b"x" * 2000


def test_of_a_large_file_that_is_only_asked_about_no_more_is_made_than_its_start():
    made = []
    response = answer((made.append(i) or "x" * 50 for i in range(40)), "HEAD")
    assert (list(response.streaming_content), len(made)) == ([], 4)


def broken(n):
    yield from ["x" * 50] * n
    raise ZeroDivisionError


@pytest.mark.parametrize("n", [0, 1, 3])
def test_what_goes_wrong_before_anything_is_sent_is_an_error_of_the_view(n):
    with pytest.raises(ZeroDivisionError):
        answer(broken(n))


def test_what_goes_wrong_later_breaks_the_answer_off_and_does_not_end_it():
    parts = answer(broken(9)).streaming_content
    assert [next(parts) for _ in range(4)] == [b"x" * 100] * 4
    with pytest.raises(ZeroDivisionError):
        next(parts)
