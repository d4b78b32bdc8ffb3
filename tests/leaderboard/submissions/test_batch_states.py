"""The one word for the state of a batch, over all that can have happened to it."""

from hypothesis import HealthCheck, given, settings, strategies as st

from leaderboard.models import Job
from leaderboard.submissions.batches.states import DECISIONS, publishing_job, state_of

UNDER_WAY = {"running", "waiting"}
NUMBERS = st.sampled_from([1, 2, 3, 4])
JOBS = st.lists(st.tuples(NUMBERS, st.sampled_from(Job.State.values)), max_size=3)


def made(rows: list[tuple[int, str]]) -> list[Job]:
    return [Job(kind="rankings", sequence=number, state=state) for number, state in rows]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    decision=st.sampled_from([None, *DECISIONS]),
    is_approved=st.booleans(),
    is_any_left=st.booleans(),
    revision_number=st.none() | NUMBERS,
    published_number=st.just(0) | NUMBERS,
    jobs=JOBS,
)
def test_a_batch_is_in_exactly_one_state_whatever_happened_to_it(
    decision, is_approved, is_any_left, revision_number, published_number, jobs
):
    state = state_of(
        decision,
        is_approved=is_approved,
        is_any_left=is_any_left,
        revision_number=revision_number,
        published_number=published_number,
        jobs=made(jobs),
    )
    counts = decision == "accepted" and is_any_left
    is_published = counts and revision_number is not None and revision_number <= published_number
    later = [(number, state) for number, state in jobs if number >= (revision_number or 0)]
    own = next((state for number, state in later if number == min(later)[0]), None)
    is_given_up = own == "failed" and not UNDER_WAY & {state for _, state in later}
    true_of = {
        "pending": decision is None and not is_approved,
        "approved": decision is None and is_approved,
        "withdrawn": decision is not None and not is_any_left,
        "rejected": decision == "rejected" and is_any_left,
        "retracted": decision == "retracted" and is_any_left,
        "published": is_published,
        "failed": counts and not is_published and (revision_number is None or is_given_up),
        "accepted": counts and not is_published and revision_number is not None and not is_given_up,
    }
    assert [word for word, is_true in true_of.items() if is_true] == [state]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(jobs=JOBS, number=NUMBERS)
def test_the_job_that_publishes_a_revision_is_the_first_under_way_that_includes_it(jobs, number):
    jobs = made(jobs)
    job = publishing_job(jobs, number)
    later = [job for job in jobs if job.sequence >= number]
    under_way = [job for job in later if job.state in UNDER_WAY]
    candidates = under_way or later
    assert job is (None if not candidates else next(one for one in candidates if one.sequence == job.sequence))
    assert job is None or job.sequence == min(one.sequence for one in candidates)


def test_no_job_of_an_earlier_revision_publishes_a_batch():
    assert publishing_job([Job(sequence=1, state="waiting")], 2) is None
