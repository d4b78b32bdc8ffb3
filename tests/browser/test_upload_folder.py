"""A folder of results chosen on the upload page: the folders of its files come with them."""

import pytest

from leaderboard.benchmarks.create import TaskSpec
from tests.ranking_engine.importers.test_samples import sample, samples_of

pytestmark = [pytest.mark.browser, pytest.mark.services]


def test_a_folder_is_chosen_and_its_folders_name_the_models(visitors, make_committed, tmp_path):
    benchmark = make_committed.benchmark({"A": [0.2], "B": [0.3]}, tasks=[TaskSpec("Quiz")])
    for model, score in {"lab__one": 1, "lab__two": 0}.items():
        file = samples_of([sample(0, acc=score)], folder=model)
        (tmp_path / "runs" / model).mkdir(parents=True)
        (tmp_path / "runs" / model / "samples_quiz.jsonl").write_bytes(file.data)
    page = visitors(benchmark.memberships.get().user).open(f"/b/{benchmark.key}/upload/")
    page.get_by_label("or a folder with them").set_input_files(tmp_path / "runs")
    page.get_by_role("button", name="Preview the effect").click()
    page.get_by_role("heading", name="What was recognised").wait_for()
    assert [page.get_by_label(f"Name of {name}").input_value() for name in ("lab/one", "lab/two")] == [
        "lab/one", "lab/two"
    ]  # fmt: skip
