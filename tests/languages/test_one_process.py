"""Pages in the language of the site and files in English, one after another in the same process: neither leaks."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from leaderboard.common.language.engine import SENTENCES, in_page_language, rule_name
from leaderboard.common.text import ranking_remark
from leaderboard.models import AuditEntry, Baseline, Score, System
from leaderboard.submissions.checks import stated_reason
from ranking_engine import MISSING_POLICIES, RULES, ScoreMatrix, listed_rules
from ranking_engine.catalogue.dispatch import rank
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.signing_in import signed_in

HELD_OUT = {"A": [1.0, 2.5, 3.0], "B": [2.0, 1.5, 1.0], "C": [3.0, 3.5, 2.0], "D": [2.0, None, 1.5]}


def body_of(response) -> str:
    parts = response.streaming_content if response.streaming else [response.content]
    return b"".join(parts).decode()


@pytest.mark.parametrize("is_page_first", [True, False])
def test_a_kept_board_is_told_each_reader_in_their_language(make, pseudo_language, is_page_first):
    benchmark = make.published(HELD_OUT, name="Bench", visibility="public")
    page = reverse("board", args=[benchmark.key])
    files = [reverse("board_download", args=[benchmark.key, "md"]), f"/api/v1/benchmarks/{benchmark.key}/board/"]
    addresses = [page, *files, page] if is_page_first else [*files, page, *files]
    for address in addresses:
        text = body_of(Client().get(address))
        assert (pseudo("Copeland") in text) == (address == page)
        assert ("⟦" in text) == (address == page)
        assert "Copeland" in text or address == page


def test_reasons_of_a_kept_board_are_told_each_reader_in_their_language(make, pseudo_language):
    benchmark = make.published(HELD_OUT, name="Bench", visibility="public")
    page, api = reverse("board", args=[benchmark.key]), f"/api/v1/benchmarks/{benchmark.key}/rankings/mean/"
    english = "no score on 1 of 3 tasks of weight above 0: Task 2"
    in_pseudo = pseudo("no score on %(n)s of %(n_tasks)s tasks of weight above 0: %(names)s")
    for _ in range(2):
        assert english in body_of(Client().get(api))
        text = body_of(Client().get(page))
        assert english not in text
        assert in_pseudo % {"n": 1, "n_tasks": 3, "names": "Task 2"} in text


def test_stored_labels_and_typed_reasons_stay_english(make, pseudo_language):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, name="Bench")
    system = System.objects.get(benchmark=benchmark, name="A")
    signed_in(owner_of(benchmark)).post(
        reverse("baseline", args=[benchmark.key, system.key]), {"baseline": "human", "reason": "Measured"}
    )
    entry = AuditEntry.objects.filter(benchmark=benchmark, field="baseline").get()
    assert (entry.before, entry.after) == ("no baseline", "human baseline")
    assert Baseline("human").label == pseudo("human baseline")
    assert stated_reason("Not reported") == Score.MissingReason.NOT_REPORTED


TABLES = (
    [[1.0, 2.0, 3.0], [2.0, -1.0, 1.0], [3.0, 3.0, np.nan]],
    [[1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan]],
    [[-1.0, -2.0], [-2.0, -1.0], [-1.5, -3.0]],
    [[1.0, 2.0], [2.0, 1.0], [1.5, 1.5]],
)


def test_every_reason_and_remark_of_a_rule_is_known_to_the_catalogue(pseudo_language):
    matrices = [ScoreMatrix(rows, directions=[1] * (len(rows[0]) - 1) + [-1]) for rows in TABLES]
    rankings = [
        rank(matrix, rule, missing=policy)
        for matrix in matrices
        for rule in listed_rules()
        for policy in MISSING_POLICIES
    ]
    texts = {text for one in rankings for text in (one.reason, *one.unranked_reasons.values(), ranking_remark(one))}
    assert len(texts) > 15
    assert [text for text in texts - {""} if not in_page_language(text).startswith("⟦")] == []


def test_a_sentence_of_the_engine_is_itself_in_english_and_where_it_is_not_known(pseudo_language):
    assert in_page_language("something new happened") == "something new happened"
    assert in_page_language("") == ""
    assert rule_name("copeland") == pseudo("Copeland")
    assert rule_name("copeland[variant=lower]") == f"{pseudo('Copeland')} ({pseudo('lower')})"
    assert rule_name("no_rule") == "no_rule"
    with translation.override("en"):
        assert [in_page_language(sentence) for sentence in SENTENCES] == list(SENTENCES)
        assert rule_name("copeland[variant=lower]") == RULES["copeland"].name + " (lower)"


def test_two_sentences_of_a_remark_and_a_list_are_each_translated(pseudo_language):
    proven = pseudo("Proven optimal: no order disagrees less with the tasks (distance %(distance)s).")
    remark = "Proven optimal: no order disagrees less with the tasks (distance 1.5). Other orders are equally good."
    assert in_page_language(remark) == f"{proven % {'distance': 1.5}} {pseudo('Other orders are equally good.')}"
    listed = pseudo("%(names)s and %(n)s more") % {"names": "a, b, c", "n": 2}
    sentence = pseudo("no score on %(n)s of %(n_tasks)s tasks of weight above 0: %(names)s")
    assert in_page_language("no score on 5 of 9 tasks of weight above 0: a, b, c and 2 more") == sentence % {
        "n": 5,
        "n_tasks": 9,
        "names": listed,
    }
