"""Studies by real worker processes, some of which are killed in the middle: the same bits, from the chunks done."""

import pytest

from leaderboard.models import Benchmark, Job, Report, StudyChoice, StudyPartial
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.studies.chunks import study_matrix
from leaderboard.studies.page import stability_sections
from leaderboard.studies.plans import PlannedStudy, insert_study, study_when_idle
from ranking_engine.stability import catalogue
from tests.factories import TOY
from tests.jobs.small_study import LEADERS

pytestmark = pytest.mark.services

N_CHUNKS = 6
PARAMETERS = {"study": "leaders", "seed": 7, "n_trials": 10 * N_CHUNKS, "top": 1}


def prepared(make_committed, site) -> Benchmark:
    """A benchmark on which nothing waits but the chunks of one study."""
    site.environment["PLURANK_LEASE_SECONDS"] = "1"
    site.environment["PLURANK_TEST_PAUSE"] = "0.03"
    benchmark = make_committed.published(TOY)
    Job.objects.filter(state="waiting").update(state="done")
    plan = PlannedStudy("leaders", PARAMETERS, n_chunks=N_CHUNKS, estimate=2.0)
    insert_study(benchmark.publication.revision, plan)
    return benchmark


def chunks(**fields):
    return Job.objects.filter(kind="study:leaders", **fields)


def assert_bits_are_those_of_one_process(benchmark: Benchmark) -> None:
    matrix = study_matrix(benchmark.publication.revision)
    own = {name: PARAMETERS[name] for name in ("n_trials", "top")}
    expected = LEADERS.merge(
        matrix, own, 7, [LEADERS.run_chunk(matrix, own, 7, chunk, None) for chunk in range(N_CHUNKS)]
    )
    report = Report.objects.get(kind="study")
    arrays = unpack_arrays(report.arrays)
    assert report.summary == expected.summary
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected.arrays.items()
    }
    assert StudyPartial.objects.count() == 0
    assert Job.objects.filter(kind="merge:leaders").count() == 1


def test_a_study_whose_worker_is_killed_goes_on_from_the_chunks_that_are_done(make_committed, site):
    """Takes about ten seconds: two workers start one after the other, and a lease runs out."""
    benchmark = prepared(make_committed, site)
    site.start("studies", "sweep", include="tests.jobs.small_study")

    def in_the_middle():
        return chunks(state="done").count() >= 2 and chunks(state="running").first()

    killed = site.wait_until(in_the_middle, 40, "a chunk runs and others are done")
    site.kill("studies")
    done = dict(chunks(state="done").values_list("pk", "finished_at"))
    assert 2 <= len(done) < N_CHUNKS
    site.start("studies2", include="tests.jobs.small_study")
    site.wait_until(Report.objects.filter(kind="study").exists, 40, "the study is put together")
    assert_bits_are_those_of_one_process(benchmark)
    again = dict(chunks(pk__in=done).values_list("pk", "finished_at"))
    assert again == done
    assert set(chunks(pk__in=done).values_list("attempts", flat=True)) == {1}
    assert killed.pk in done or chunks(pk=killed.pk).get().attempts == 2


def test_a_board_that_is_studied_when_idle_has_the_studies_of_its_new_revision_after_a_submission(
    make_committed, site, monkeypatch
):
    """As the demonstration's boards are. Takes about fifteen seconds: processes start, and boards are ranked."""
    monkeypatch.setattr(catalogue, "STUDIES", {"leaders": LEADERS})
    site.environment["PLURANK_TEST_PAUSE"] = "0.001"
    benchmark = make_committed.published(TOY)
    study_when_idle(benchmark)
    StudyChoice.objects.update(budget_seconds=60)
    site.start("rankings", "studies", "sweep", include="tests.jobs.small_study")

    def studied(number: int):
        return Report.objects.filter(kind="study", revision__benchmark=benchmark, revision__number=number).exists

    site.wait_until(studied(1), 60, "the first revision is studied")
    make_committed.accepted(benchmark, {"E": [9.0] * 5})
    site.wait_until(studied(2), 60, "the new revision is studied")
    benchmark.refresh_from_db()
    (section,) = stability_sections(benchmark, benchmark.publication, "borda")
    assert benchmark.publication.revision.number == 2
    assert (section.state.state, section.state_text) == ("done", "")


SLOW = pytest.mark.slow


@pytest.mark.parametrize("n_workers", [2, pytest.param(1, marks=SLOW), pytest.param(5, marks=SLOW)])
def test_any_number_of_worker_processes_finds_the_same_bits(make_committed, site, n_workers):
    """Takes about ten seconds, with five workers more: they start."""
    benchmark = prepared(make_committed, site)
    site.start("sweep", *(f"studies{n}" for n in range(1, n_workers + 1)), include="tests.jobs.small_study")
    site.wait_until(Report.objects.filter(kind="study").exists, 60, "the study is put together")
    assert_bits_are_those_of_one_process(benchmark)
    assert set(chunks().values_list("state", "attempts")) == {("done", 1)}


def test_a_worker_that_dies_between_its_last_chunk_and_the_merge_is_made_up_for_by_the_sweep(make_committed, site):
    """Takes about eight seconds: processes start."""
    benchmark = prepared(make_committed, site)
    matrix = study_matrix(benchmark.publication.revision)
    from leaderboard.rankings.reports import pack_arrays

    for job in chunks():  # as a worker leaves them that dies before it inserts the merge
        arrays = LEADERS.run_chunk(matrix, PARAMETERS, 7, job.chunk, None)
        StudyPartial.objects.create(job=job, arrays=pack_arrays(arrays), seconds=0.1)
    chunks().update(state="done")
    site.start("studies", "sweep", include="tests.jobs.small_study")
    site.wait_until(Report.objects.filter(kind="study").exists, 40, "the study is put together")
    assert_bits_are_those_of_one_process(benchmark)
