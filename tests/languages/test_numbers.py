"""Numbers as a language writes them: with its decimal mark on pages, with a point in files, the API and markup."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from leaderboard.common.language.numbers import in_language, localise, typed_number
from leaderboard.models import Draft
from leaderboard.studies.study_findings import StudyNames
from leaderboard.studies.tellers import score_completion
from tests.factories import owner_of
from tests.languages.catalogues import forget_catalogues
from tests.signing_in import signed_in


@pytest.fixture
def german(settings):
    """A site in German, which has no catalogue of ours: texts stay English, numbers do not."""
    settings.LANGUAGE_CODE = "de"
    forget_catalogues()
    with translation.override("de"):
        yield
    forget_catalogues()


@pytest.fixture
def benchmark(make):
    return make.published({"A": [0.25, 1.5], "B": [1.25, 0.5], "C": [0.75, 2.5]}, name="Bench", visibility="public")


def body_of(response) -> str:
    parts = response.streaming_content if response.streaming else [response.content]
    return b"".join(parts).decode()


def test_the_board_has_commas_and_its_files_and_the_api_have_points(german, benchmark):
    page = body_of(Client().get(reverse("board", args=[benchmark.key]), {"scores": "1"}))
    assert "0,875" in page  # the mean of B
    assert "0.875" not in page
    addresses = [reverse("board_download", args=[benchmark.key, kind]) for kind in ("csv", "md", "tex")]
    downloads = [body_of(Client().get(address, {"scores": "1"})) for address in addresses]
    api = f"/api/v1/benchmarks/{benchmark.key}/rankings/mean/"
    for text in [*downloads, body_of(Client().get(api)), body_of(Client().get(api + "?format=csv"))]:
        assert "0.875" in text
        assert "0,875" not in text


def test_scores_have_commas_on_pages_and_points_in_files_and_the_api(german, benchmark):
    pages = [body_of(Client().get(reverse(route, args=[benchmark.key]))) for route in ("scores", "history_compare")]
    assert "1,25" in pages[0]
    export = body_of(Client().get(reverse("export", args=[benchmark.key, "scores", "csv"])))
    api = body_of(Client().get(f"/api/v1/benchmarks/{benchmark.key}/scores/"))
    for text in (export, api):
        assert "1.25" in text
        assert "1,25" not in text


def test_numbers_of_missing_scores_have_the_marks_of_the_language(german):
    summary = {"level": 0.9, "coverage": 0.9, "error": 0.5, "explained": 0.7, "n_tasks": 1, "tasks": ["t"]}
    summary |= {"n_missing": 4321, "n_predictable": 3210, "n_with_few_scores": 1111, "missing": [2109]}
    summary |= {f"task_{name}": [0.5] for name in ("error", "half_width", "explained", "coverage")}
    said = score_completion.TELLER.findings(summary, "mean", StudyNames())
    assert "Of 4.321 missing scores, 3.210 can be predicted" in said.sentence
    assert " 1.111 are not predicted" in said.sentence
    assert said.rows[0].cells[0].text == "2.109"


def test_markup_has_points(german, make, benchmark):
    client = signed_in(owner_of(benchmark))
    routes = ("board", "scores", "head_to_head", "agreement", "what_if", "pareto", "timeline", "manage_tasks", "submit")
    for route in routes:
        page = body_of(client.get(reverse(route, args=[benchmark.key])))
        texts = r"(?:aria-label|title|alt|content|placeholder|datetime)"
        attributes = re.findall(rf"\s(?!{texts}=)([\w-]+=\"[^\"]*\d,\d[^\"]*\")", page)
        assert [one for one in attributes if not one.startswith("data-")] == []


def test_what_a_page_asks_for_is_in_english_too(german, benchmark):
    path = reverse("what_if_data", args=[benchmark.key])
    assert json.loads(body_of(Client().get(path)))["values"][0] == [0.25, 1.5]


def test_a_score_may_be_typed_with_either_mark(german, make, benchmark):
    for typed in ("0,5", "0.5"):
        data = {"system_name": f"New {typed[1]}", "score-task-1": typed, "score-task-2": "2"}
        response = signed_in(owner_of(benchmark)).post(reverse("submit", args=[benchmark.key]), data)
        assert response.status_code == 302, response.content.decode()
    assert [draft.rows[0]["scores"]["task-1"] for draft in Draft.objects.order_by("id")] == [{"value": 0.5}] * 2


def test_a_number_is_written_as_the_language_has_it(german):
    assert (in_language("1,234.5 %"), localise(-0.125, ".3g")) == ("1.234,5 %", "-0,125")
    typed = ["0,5", " −1,25 ", "0.5", "1,2,3", "a,b"]
    assert [typed_number(text) for text in typed] == ["0.5", " −1.25 ", "0.5", "1,2,3", "a,b"]
    with translation.override("en"):
        assert (in_language("1,234.5 %"), typed_number("1,5")) == ("1,234.5 %", "1,5")


def test_minus_signs_come_from_one_module(settings):
    """Of copies one forgets that what is rounded to 0 has no sign."""
    with_sign = {
        path.relative_to(settings.ROOT).as_posix()
        for path in (settings.ROOT / "leaderboard").rglob("*.py")
        if "MINUS SIGN}" in path.read_text(encoding="utf-8")
    }
    assert with_sign == {"leaderboard/common/text.py", "leaderboard/common/language/numbers.py"}
