"""How many scores an account may store, whatever the door."""

from functools import partial

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.benchmarks.drafts import create_from_draft, draft_contents, make_benchmark_draft
from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.releases import new_edition
from leaderboard.models import CellCount, Score
from leaderboard.submissions.problems import QuotaError
from leaderboard.submissions.quotas import TOTAL, cells_of, day_of
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.concurrency import at_once

FIVE = ["1"] * 5


def counts(user):
    return dict(CellCount.objects.filter(user=user).values_list("period", "n_cells"))


def rows(*names):
    return Upload(rows=[SubmittedRow(name, {"task-1": 1.0}) for name in names], creates_systems=True)


def in_a_table(benchmark, user):
    submit_upload(benchmark, user, Upload(table=b"system,Task 1\nT1,1\nT2,1\n", creates_systems=True))


def by_an_importer(benchmark, user):
    rows = [SubmittedRow(f"I{number}", {"task-1": 1.0}, line=number) for number in (1, 2)]
    submit_upload(benchmark, user, Upload(rows=rows, is_imported=True, creates_systems=True))


def in_a_form(benchmark, make, user):
    make.submitted(benchmark, "F", FIVE, by=user)


def test_what_is_stored_is_counted_by_the_day_and_in_all(make):
    benchmark, user = make.benchmark(), make.user()
    make.submitted(benchmark, "One", FIVE, by=user)
    in_a_table(benchmark, user)
    assert counts(user) == {day_of(timezone.now()): 7, TOTAL: 7}


def test_ten_scores_of_single_instances_count_as_one_cell():
    entry = {"n": 21}
    assert cells_of([{"scores": {"a": {}, "b": {}}, "instances": {"a": entry}}, {"scores": {"a": {}}}]) == 6


@pytest.mark.parametrize(("limit", "when"), [("CELLS_PER_DAY", "a day"), ("CELLS_PER_ACCOUNT", "in all")])
@pytest.mark.parametrize("door", [in_a_table, by_an_importer, lambda b, u: submit_upload(b, u, rows("A1", "A2"))])
def test_a_limit_holds_for_every_door_and_says_so(make, settings, limit, when, door):
    benchmark, user = make.benchmark(), make.user()
    make.submitted(benchmark, "F", FIVE, by=user)
    setattr(settings, limit, 6)
    before = Score.objects.count()
    with pytest.raises(QuotaError) as refused:
        door(benchmark, user)
    again = " The day ends at 00:00 UTC." if when == "a day" else ""
    assert str(refused.value) == (
        f"An account can store 6 scores {when} here. Yours has stored 5, and these are 2 more (empty cells and "
        f"values of metadata count, and ten scores of single instances count as one).{again} The operator of this site "
        "can raise the limit."
    )
    assert Score.objects.count() == before
    assert counts(user) == {day_of(timezone.now()): 5, TOTAL: 5}


def test_the_form_is_refused_and_its_draft_stays(make, settings):
    benchmark, user = make.benchmark(), make.user()
    settings.CELLS_PER_DAY = 4
    with pytest.raises(QuotaError, match="An account can store 4 scores a day here"):
        in_a_form(benchmark, make, user)
    assert user.drafts.count() == 1


def test_new_benchmarks_and_editions_count_as_well(make, settings):
    owner = make.user()
    draft = make_benchmark_draft(owner, name="Made", table=b"system,Task 1,Task 2\nA,1,2\nB,2,1\n")
    proposal = draft_contents(draft).proposal
    settings.CELLS_PER_ACCOUNT = 3
    with pytest.raises(ValidationError, match="An account can store 3 scores in all here"):
        create_from_draft(draft, proposal, {"name": "Made"})
    settings.CELLS_PER_ACCOUNT = 4
    made = create_from_draft(draft, proposal, {"name": "Made"})
    with pytest.raises(ValidationError, match="Yours has stored 4, and these are 4 more"):
        new_edition(made, author=owner, name="Second", with_scores=True)
    assert owner.memberships.count() == 1


def test_staff_and_folders_of_the_operator_are_counted_and_not_limited(make, settings, capsys):
    settings.CELLS_PER_DAY = settings.CELLS_PER_ACCOUNT = 1
    benchmark, staff, owner = make.benchmark({}, n_tasks=5, owner=make.user()), make.user(is_staff=True), make.user()
    make.submitted(benchmark, "One", FIVE, by=staff)
    import_folder(FOLDER / "superglue", owner=owner)
    assert counts(staff)[TOTAL] == 5
    assert counts(owner)[TOTAL] > 100


def test_an_upload_that_fails_counts_nothing(make, settings):
    benchmark, user = make.benchmark(total_cap=1), make.user()
    with pytest.raises(QuotaError, match="You can submit 1 system in all to this benchmark"):
        submit_upload(benchmark, user, rows("A1", "A2"))
    assert counts(user) == {}


def test_uploads_that_race_never_pass_the_limit_together(make_committed, settings):
    user = make_committed.user()
    benchmarks = [make_committed.benchmark() for _ in range(6)]
    settings.CELLS_PER_DAY = 3
    outcomes = at_once([partial(attempt, benchmark, user) for benchmark in benchmarks])
    assert sum(outcomes) == 3
    assert counts(user) == {day_of(timezone.now()): 3, TOTAL: 3}


def attempt(benchmark, user) -> bool:
    try:
        submit_upload(benchmark, user, rows("One"))
    except QuotaError:
        return False
    return True
