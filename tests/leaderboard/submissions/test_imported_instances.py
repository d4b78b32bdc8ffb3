"""Scores of single instances that came with result files: through the form and the API onto the board."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Draft, InstanceScores, Score
from leaderboard.rankings.instances import unpack_names
from leaderboard.submissions.importing.packing import packed, unpacked
from leaderboard.submissions.imports import Assignment, read_import, rows_of_import
from leaderboard.submissions.instances.vectors import unpack_vector
from ranking_engine.files.problems import InputError
from tests.leaderboard.submissions.test_imports_page import answer, choose, sign_in
from tests.ranking_engine.importers.test_samples import LATER, results_of, sample, samples_of

FILES = [
    results_of({"quiz": {"acc": 0.5}, "sums": {"acc": 0.25}}),
    samples_of([sample(0, acc=1), sample(1, acc=0)]),
    results_of({"quiz": {"acc": 1.0}}, model="lab/two", date=LATER),
    samples_of([sample(0, acc=1), sample(1, acc=1)], date=LATER),
]


@pytest.fixture
def board(make):
    return make.published({"A": [20, 40], "B": [30, 10]}, tasks=[TaskSpec("Quiz", maximum=100), TaskSpec("Sums")])


def stored_instances():
    """By system and task, the scores of the instances."""
    rows = InstanceScores.objects.select_related("submission__system", "task", "instance_set")
    return {
        (row.submission.system.name, row.task.key): dict(
            zip(unpack_names(row.instance_set.names), unpack_vector(row.values).tolist(), strict=True)
        )
        for row in rows
    }


def test_they_come_through_the_form_onto_the_board_on_the_scale_of_their_scores(client, board):
    sign_in(client, board)
    page = choose(client, board, FILES)
    assert "scores of single instances of 1 column are read" in page.content.decode()
    response = answer(client, board, page, scale_0="times-100", scale_1="times-100")
    draft = client.get(response["Location"])
    assert draft.status_code == 200
    client.post(response["Location"], {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    assert stored_instances() == {
        ("lab/one", "quiz"): {"0": 100.0, "1": 0.0},
        ("lab/two", "quiz"): {"0": 100.0, "1": 100.0},
    }
    scores = Score.objects.filter(submission__batch__source="importer").values_list("task__key", "value")
    assert sorted(scores) == [("quiz", 50.0), ("quiz", 100.0), ("sums", 25.0)]


def test_they_go_through_the_page_and_back_unchanged(board):
    user = board.memberships.get().user
    results = read_import([(file.name, file.data) for file in FILES])
    back = unpacked(packed(results, board, user), board, user)
    assert back.instances.keys() == results.instances.keys()
    for place, one in results.instances.items():
        assert (back.instances[place].names, back.instances[place].values.tolist()) == (one.names, one.values.tolist())


def test_more_than_a_site_takes_and_names_that_cannot_be_kept_are_refused(board, settings):
    def rows_of(file):
        results = read_import([(file.name, file.data)])
        return rows_of_import(
            audience_of(board.memberships.get().user, board),
            results,
            Assignment({0: "Quiz"}, {0: "as-is"}, {0: "lab/one"}),
        )

    with pytest.raises(InputError, match="the limit is 100"):
        rows_of(samples_of([sample("x" * 101, acc=1)]))
    settings.INSTANCE_CELLS = 1
    with pytest.raises(InputError, match="at most 1 can be read at once"):
        rows_of(samples_of([sample(0, acc=1), sample(1, acc=1)]))


def test_a_folder_is_chosen_with_the_folders_of_its_files(client, board):
    """Two models whose files have the same names and no date: their folders tell them apart."""
    sign_in(client, board)
    models = {"lab__one": [1, 0], "lab__two": [1, 1]}
    files = [
        (f"runs/{model}/samples_quiz.jsonl", samples_of([sample(n, acc=score) for n, score in enumerate(scores)]).data)
        for model, scores in models.items()
    ]
    files.append(("runs/.git/samples_quiz.jsonl", b"{}"))
    sent = {
        "folder": [SimpleUploadedFile(name.rpartition("/")[2], data) for name, data in files],
        "folder_names": "\r\n".join(name for name, _ in files),
    }
    page = client.post(reverse("upload", args=[board.key]), sent)
    assert [(system.name, system.n_scores) for system in page.context["systems"]] == [("lab/one", 1), ("lab/two", 1)]
    # Without a script their folders are not known, and the files cannot be told apart.
    for file in sent["folder"]:
        file.seek(0)
    page = client.post(reverse("upload", args=[board.key]), {"folder": sent["folder"][:2], "folder_names": "a\nb"})
    assert page.status_code == 400
    assert "a second score of the model on quiz, acc" in " ".join(page.context["errors"])
    assert Draft.objects.count() == 0
