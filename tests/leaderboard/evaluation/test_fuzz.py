"""No file of predictions makes the site fail: it is stored with its jobs, or refused with nothing stored.

50 here for each way in; `make fuzz` sends many more.
"""

import os

import pytest
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings, strategies as st

from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.models import Job, PredictionCount, PredictionFile, PredictionSubmission
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError
from tests.leaderboard.evaluation.made import hidden_benchmark, labels_file, numbers_file

pytestmark = pytest.mark.django_db
N_INPUTS = int(os.environ.get("PLURANK_FUZZ_INPUTS", "150")) // 3
SPLICES = st.one_of(
    st.binary(max_size=6),
    st.text(max_size=4).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [b"\n", b",", b'"', b"\0", b"{", b"[" * 3_000, b"\xff", b"NaN", b"9" * 5_000, b"PAR1", b"\xef\xbb\xbf", b"\r",
         b"task", b"i3,dog\n", b"\xe2\x80\xae", b"1e999", b"x" * 70_000, b"\n" * 2_000, b"\xff\xfe"]
    ),
)  # fmt: skip
TABLE = b"task,id,prediction\n" + b"".join(
    f"{task},{row}\n".encode()
    for task, data in (("animals", labels_file()), ("Numbers", numbers_file()))
    for row in data.decode().splitlines()[1:]
)
LINES = b"".join(b'{"task": "animals", "id": "i%d", "prediction": "cat"}\n' % k for k in range(2, 8))
NAMES = st.one_of(st.text(max_size=12), st.sampled_from(["", "a.csv", "../../x", "a" * 500, "\0", "a\nb", "\ud800"]))
TASKS = st.one_of(st.sampled_from(["animals", "numbers", "Numbers", "ANIMALS"]), st.text(max_size=8))


@st.composite
def spliced(draw, sound: bytes) -> bytes:
    """A sound file, with something odd in up to three places."""
    data = sound
    for _ in range(draw(st.integers(0, 3))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 20))
        data = data[:at] + draw(SPLICES) + data[at + length :]
    return data


WAYS_IN = {
    "a file for a task": st.fixed_dictionaries(
        {
            "files": st.dictionaries(
                TASKS, st.tuples(NAMES, spliced(labels_file()) | spliced(numbers_file())), max_size=3
            )
        }
    ),
    "a table for all tasks": st.fixed_dictionaries({"table": st.tuples(NAMES, spliced(TABLE))}),
    "lines of JSON for all tasks": st.fixed_dictionaries({"table": st.tuples(NAMES, spliced(LINES))}),
    "both": st.fixed_dictionaries(
        {
            "files": st.dictionaries(TASKS, st.tuples(NAMES, spliced(numbers_file())), max_size=1),
            "table": st.tuples(NAMES, spliced(LINES)),
        }
    ),
}
# One of each that is stored, which few of those drawn may be.
SOUND = {
    "a file for a task": {"files": {"animals": ("a.csv", labels_file())}},
    "a table for all tasks": {"table": ("a.csv", TABLE)},
    "lines of JSON for all tasks": {"table": ("a.jsonl", LINES)},
    "both": {"files": {"numbers": ("n.csv", numbers_file())}, "table": ("a.jsonl", LINES)},
}


def stored() -> list[int]:
    return [model.objects.count() for model in (PredictionSubmission, PredictionFile, Job, PredictionCount)]


@pytest.mark.parametrize("way", WAYS_IN)
def test_whatever_is_sent_is_stored_whole_or_refused_with_nothing_stored(make, way):
    benchmark, user = hidden_benchmark(make), make.user()
    before = stored()
    outcomes = set()

    @given(sent=WAYS_IN[way])
    @example(sent=SOUND[way])
    @settings(max_examples=N_INPUTS, deadline=None, suppress_health_check=list(HealthCheck))
    def submit(sent):
        refusal = None
        with transaction.atomic():
            try:
                row, is_new = submit_predictions(
                    benchmark, user, PredictionUpload(SubmittedRow("Deep Thought"), **sent)
                )
            except InputError as error:
                refusal = error
            else:
                files = list(row.files.all())
                assert (is_new, row.state, len(files) in (1, 2)) == (True, "waiting", True)
                assert {file.n_predictions for file in files} <= {3, 6}
                assert stored()[2] == before[2] + 1
                transaction.set_rollback(True)
        assert stored() == before
        if refusal is not None:
            problems = refusal.problems.listed
            assert problems
            assert all(len(problem.message) < 1_000 for problem in problems)
            assert all(problem.line is None or problem.line >= 1 for problem in problems)
        outcomes.add("stored" if refusal is None else "refused")

    submit()
    assert outcomes == {"stored", "refused"}
