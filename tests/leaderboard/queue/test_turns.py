"""Benchmarks take turns: whose job is next, and where one is in the line."""

from datetime import timedelta
from time import sleep

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.models import Job, JobCount, PredictionSubmission, Turn
from leaderboard.queue import jobs
from leaderboard.queue.kinds import STUDIES_QUIET_MOST
from leaderboard.queue.places import Place, places
from leaderboard.queue.priorities import IDLE, RECOMPUTATION
from leaderboard.queue.rows import seconds_until_quiet
from leaderboard.queue.turns import WANTED
from leaderboard.studies.plans import PlannedStudy, insert_study
from tests.leaderboard.evaluation.made import hidden_benchmark, upload

N_BUSY = 30
ROW = {"E": [1.0] * 5}
PARTS = ["prospects", "significance", "bootstrap", "study_plan"]  # of a small board, in this order


def begin_next(queue: str = "studies") -> Job:
    """What a worker does that is woken for a job which may take long: claim the next one."""
    wake_up = Job.objects.filter(queue=queue, state="waiting", kind__in=["bootstrap", "rankings", "scoring"]).first()
    wake_up = wake_up or Job.objects.filter(queue=queue, state="waiting").first()
    return next(job for pk in jobs.most_urgent(wake_up.pk) if (job := jobs.claim(pk, worker="test")))


def do_next(queue: str = "studies") -> tuple[int, str]:
    """A job is done without being computed: its benchmark, and its kind."""
    job = begin_next(queue)
    jobs.finish(job, lambda: None)
    return job.benchmark_id, job.kind


def insert_chunks(benchmark, study: str, n_chunks: int, priority: int = -5) -> None:
    plan = PlannedStudy(study, {"study": study, "seed": 0}, n_chunks=n_chunks, estimate=5.0, priority=priority)
    insert_study(benchmark.revisions.latest("number"), plan)


@pytest.fixture
def begun(make):
    """Makes benchmarks whose first revisions are through with everything."""

    def begun(number: int) -> list:
        benchmarks = [make.benchmark(name=f"Board {n}") for n in range(number)]
        Job.objects.filter(state="waiting").update(state="done")
        return benchmarks

    return begun


def test_a_newcomer_among_thirty_busy_boards_waits_for_one_turn_and_then_has_all_that_comes_with_its_board(make, begun):
    busy = begun(N_BUSY)
    for benchmark in busy:
        make.accepted(benchmark, ROW)
    Job.objects.filter(queue="rankings").update(state="done")
    served = [do_next() for _ in range(N_BUSY * len(PARTS))]
    assert served == [(benchmark.pk, kind) for benchmark in busy for kind in PARTS]
    assert Turn.objects.filter(parts_sequence=2).count() == N_BUSY
    for benchmark in busy:
        make.accepted(benchmark, {"F": [2.0] * 5})
    assert do_next() == (busy[0].pk, PARTS[0])
    newcomer = make.benchmark(name="Newcomer")
    make.accepted(newcomer, ROW)
    Job.objects.filter(benchmark=newcomer, sequence=1).delete()
    following = [do_next() for _ in range(4 * len(PARTS) - 1)]
    turns = [busy[0].pk, newcomer.pk, busy[1].pk, busy[2].pk]
    assert following == [(key, kind) for key in turns for kind in PARTS][1:]


def test_what_comes_with_a_board_goes_before_every_study_of_another(make, begun):
    studied, other = begun(2)
    insert_chunks(studied, "leaders", 3, priority=1)
    make.accepted(other, ROW)
    make.accepted(studied, ROW)
    Turn.objects.filter(benchmark=other).update(parts_at=timezone.now(), study_at=timezone.now(), wanted_at=None)
    kinds = [do_next() for _ in range(2 * len(PARTS) + 1)]
    assert kinds[: len(PARTS)] == [(studied.pk, kind) for kind in PARTS]
    assert kinds[len(PARTS) :] == [*((other.pk, kind) for kind in PARTS), (studied.pk, "study:leaders")]


def test_studies_of_several_boards_take_turns_job_by_job(begun):
    first, second, third = begun(3)
    insert_chunks(first, "leaders", 3)
    insert_chunks(second, "leaders", 2)
    insert_chunks(third, "leaders", 1)
    keys = [first.pk, second.pk, third.pk, first.pk, second.pk, first.pk]
    line = list(places("studies"))
    assert [Job.objects.get(pk=pk).benchmark_id for pk in line] == keys
    assert [do_next()[0] for _ in keys] == keys


def test_what_somebody_looks_at_goes_first_and_a_seeding_last(client, make):
    seeded = [make.published(name=f"Seeded {n}") for n in range(3)]
    insert_chunks(seeded[2], "leaders", 1)
    client.get(reverse("stability", args=[seeded[1].key]))
    assert do_next()[0] == seeded[1].pk
    make.accepted(seeded[2], ROW)
    Job.objects.filter(benchmark=seeded[1]).exclude(state="done").delete()
    turns = [do_next() for _ in range(2 * len(PARTS))]
    assert turns[: len(PARTS)] == [(seeded[2].pk, kind) for kind in PARTS]
    assert turns[len(PARTS) :] == [(seeded[0].pk, kind) for kind in PARTS]
    Turn.objects.update(wanted_at=timezone.now() - WANTED)
    insert_chunks(seeded[0], "leaders", 1, priority=2 * IDLE - 1)
    insert_chunks(seeded[1], "leaders", 1, priority=IDLE - 1)
    insert_chunks(seeded[2], "judges", 1, priority=RECOMPUTATION - 1)
    Job.objects.filter(queue="rankings").update(state="done")
    Job.objects.exclude(kind__startswith="study:").filter(state="waiting").delete()
    Job.objects.filter(kind="study:leaders", priority=-5).delete()
    assert [do_next() for _ in range(3)] == [
        (seeded[2].pk, "study:judges"),
        (seeded[1].pk, "study:leaders"),
        (seeded[0].pk, "study:leaders"),
    ]


def test_a_board_that_is_submitted_to_all_the_time_is_ranked_in_its_turn_and_others_in_theirs(make, begun):
    busy, *others = begun(3)
    ranked = []
    for _ in range(3):
        for benchmark in (*others, busy, busy):
            make.accepted(benchmark, ROW)
        ranked.append([do_next("rankings")[0] for _ in range(3)])
    assert [set(keys) for keys in ranked] == [{busy.pk, *(other.pk for other in others)}] * 3
    assert Job.objects.filter(benchmark=busy, kind="rankings", state="done").latest("sequence").sequence == 7


# --- Ten submissions in a minute -------------------------------------------------------------------------------------


def test_of_ten_submissions_in_a_minute_the_first_and_the_last_have_their_studies_planned(make, begun, settings):
    settings.STUDIES_QUIET_SECONDS = 30
    (benchmark,) = begun(1)
    make.accepted(benchmark, ROW)
    assert "study_plan" in {do_next()[1] for _ in (*PARTS[1:], "study_plan")}
    for n in range(9):
        make.accepted(benchmark, {f"E{n}": [1.0] * 5})
        assert "study_plan" not in {do_next()[1] for _ in PARTS[1:]}
    plans = Job.objects.filter(kind="study_plan", sequence__gt=2)
    assert set(plans.values_list("state", flat=True)) == {"waiting"}
    Job.objects.filter(kind="axioms").delete()
    plans.update(not_before=timezone.now())
    assert do_next() == (benchmark.pk, "study_plan")
    others = plans.filter(state="waiting").first()
    assert [jobs.claim(pk, worker="test") for pk in jobs.most_urgent(others.pk)] == [None] * 8
    assert dict(plans.values_list("sequence", "state")) == dict.fromkeys(range(3, 11), "superseded") | {11: "done"}


def test_a_board_that_is_never_quiet_has_its_studies_planned_after_ten_minutes(make, begun, settings):
    settings.STUDIES_QUIET_SECONDS = 30
    (benchmark,) = begun(1)
    for n in range(2):
        make.accepted(benchmark, {f"E{n}": [1.0] * 5})
    first, last = benchmark.revisions.filter(number__gt=1).order_by("number")
    moments = [0, STUDIES_QUIET_MOST - 30, STUDIES_QUIET_MOST - 10, STUDIES_QUIET_MOST, 2 * STUDIES_QUIET_MOST]
    pauses = [seconds_until_quiet(last, first.created_at + timedelta(seconds=seconds)) for seconds in moments]
    assert pauses == [30, 30, 10, 0, 0]
    Job.objects.filter(kind="study_plan", sequence=2).update(state="done")  # what was put off was put off for the last
    assert seconds_until_quiet(last, last.created_at + timedelta(seconds=STUDIES_QUIET_MOST - 10)) == 10


def test_a_submission_after_a_quiet_time_has_its_studies_planned_at_once(make, begun, settings):
    settings.STUDIES_QUIET_SECONDS = 1e-3
    (benchmark,) = begun(1)
    make.accepted(benchmark, ROW)
    sleep(1e-3)
    make.accepted(benchmark, {"Later": [1.0] * 5})
    later = Job.objects.get(benchmark=benchmark, kind="study_plan", sequence=3)
    assert later.woken_at == later.not_before


def test_the_studies_of_a_new_benchmark_are_planned_at_once(make, settings):
    settings.STUDIES_QUIET_SECONDS = 30
    make.benchmark()
    plan = Job.objects.get(kind="study_plan")
    assert plan.not_before <= timezone.now()


# --- Scoring predictions ---------------------------------------------------------------------------------------------


def test_people_take_turns_to_have_predictions_scored_however_many_one_of_them_sends(make, settings):
    settings.PREDICTIONS_OPEN = 5
    first, second = (hidden_benchmark(make, name=f"Board {n}") for n in range(2))
    many, few = make.user("Sends Many"), make.user("Sends Few")
    for n in range(3):
        for benchmark in (first, second):
            if (benchmark, n) != (second, 2):
                submit_predictions(benchmark, many, upload(f"Many {n}"))
    for n in range(2):
        submit_predictions(first, few, upload(f"Few {n}"))
    Turn.objects.filter(benchmark=second).update(wanted_at=timezone.now())  # a look at a page changes no turn
    with CaptureQueriesContext(connection) as queries:
        line = list(places("scoring"))
    assert len(queries) <= 4
    people = []
    for _ in line:
        job = begin_next("scoring")
        people.append(PredictionSubmission.objects.get(pk=job.subject_id).submitter)
        jobs.finish(job, lambda: None)
    assert people == [many, few, many, few, many, many, many]


# --- Places ----------------------------------------------------------------------------------------------------------


def test_a_place_says_how_many_go_before_and_how_long_they_take_at_the_pace_so_far(begun):
    first, second = begun(2)
    insert_chunks(first, "leaders", 3)
    insert_chunks(second, "leaders", 1)
    JobCount.objects.create(queue="studies", kind="study", outcome="done", bucket="10.0", n=4, seconds=32.0)
    running = begin_next()
    Job.objects.filter(pk=running.pk).update(progress=0.5)
    turns = list(places("studies").values())
    assert turns == [Place(1, 4.0 + 8.0), Place(2, 12.0 + 8.0), Place(3, 20.0 + 8.0)]
    texts = [Place(0, seconds).text for seconds in (59, 60, 61, 5399, 5400, 40_000)]
    assert texts == [
        "less than a minute", "about 1 minute", "about 2 minutes", "about 90 minutes", "about 2 hours",
        "about 12 hours",
    ]  # fmt: skip


def test_places_of_boards_that_were_never_served_are_those_in_which_they_are_served(begun, make):
    for benchmark in begun(3):
        make.accepted(benchmark, ROW)
    Job.objects.filter(queue="rankings").update(state="done")
    line = [(Job.objects.get(pk=pk).benchmark_id, Job.objects.get(pk=pk).kind) for pk in places("studies")]
    assert len(line) == 3 * (len(PARTS) + 1)
    assert [do_next() for _ in line] == line


@pytest.mark.parametrize("woken_for", [*PARTS, "axioms"])
def test_a_wake_up_for_any_job_runs_the_one_whose_turn_it_is(make, begun, woken_for):
    for benchmark in begun(2):
        make.accepted(benchmark, ROW)
    Job.objects.filter(queue="rankings").update(state="done")
    wake_up = Job.objects.filter(kind=woken_for, state="waiting").latest("pk")
    first = Job.objects.get(pk=jobs.most_urgent(wake_up.pk)[0])
    assert (first.benchmark.name, first.kind) == ("Board 0", PARTS[0])


def test_violations_in_a_board_that_no_one_submitted_to_wait_for_those_in_boards_that_changed(make):
    untouched, changed = make.benchmark(name="Untouched"), make.benchmark(name="Changed")
    make.accepted(changed, ROW)
    Job.objects.filter(queue="rankings").update(state="done")
    Job.objects.filter(queue="studies").exclude(kind="axioms").delete()
    Job.objects.filter(kind="axioms", benchmark=changed, sequence=1).delete()
    Turn.objects.update(wanted_at=None)
    assert [do_next() for _ in range(2)] == [(changed.pk, "axioms"), (untouched.pk, "axioms")]
