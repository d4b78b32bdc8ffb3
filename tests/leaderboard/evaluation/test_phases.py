"""Phases: which one is open, what is refused, and how many predictions a team or a person may submit in one."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from leaderboard.evaluation.phases import (
    counted_split,
    delete_phase,
    has_ladder,
    phase_for_predictions,
    store_phase,
    use_ladder,
)
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.quotas import give_back_prediction, predictions_left, take_prediction
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.references import check_file, store_references
from leaderboard.evaluation.teams import found_team
from leaderboard.models import AuditEntry, Phase, PredictionCount, PredictionSubmission
from tests.concurrency import at_once
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    REFERENCES,
    add_references,
    hidden_benchmark,
    labels_file,
    score_all,
    texts_benchmark,
    upload,
)

DAY = timedelta(days=1)


def phase_of(benchmark, name="Final", **values) -> Phase:
    now = timezone.now()
    values = {"name": name, "opens_at": now - DAY, "closes_at": now + DAY} | values
    return store_phase(benchmark, values, author=owner_of(benchmark))


def test_the_open_phase_is_the_one_that_opened_and_has_not_closed(make):
    benchmark, now = make.benchmark({}, n_tasks=1), timezone.now()
    assert phase_for_predictions(benchmark) is None
    phase_of(benchmark, "Old", opens_at=now - 3 * DAY, closes_at=now - 2 * DAY)
    with pytest.raises(EvaluationError, match="No phase is open: Old closed on"):
        phase_for_predictions(benchmark)
    phase_of(benchmark, "Next", opens_at=now + DAY, closes_at=None)
    with pytest.raises(EvaluationError, match="No phase is open: Next opens on"):
        phase_for_predictions(benchmark)
    here = phase_of(benchmark, "Here", opens_at=now - DAY, closes_at=now + DAY)
    assert phase_for_predictions(benchmark) == here


def test_phases_do_not_overlap_and_go_private_only_after_they_closed(make):
    benchmark, now = make.benchmark({}, n_tasks=1), timezone.now()
    phase_of(benchmark)
    for values in (
        {"opens_at": now, "closes_at": None},
        {"opens_at": now - 5 * DAY, "closes_at": now},
        {"opens_at": now + 2 * DAY, "closes_at": now + DAY},
        {"opens_at": now + 2 * DAY, "closes_at": now + 3 * DAY, "private_at": now + 3 * DAY},
        {"opens_at": now + 2 * DAY, "closes_at": now + 3 * DAY, "split": "public", "private_at": now + 2 * DAY},
        {"opens_at": now + 2 * DAY, "closes_at": None, "split": "public", "private_at": now + 2 * DAY},
        {"opens_at": now + 2 * DAY, "split": "secret"},
    ):
        with pytest.raises(ValidationError):
            phase_of(benchmark, "Other", **values)
    assert [phase.name for phase in Phase.objects.all()] == ["Final"]


@pytest.mark.parametrize(
    ("values", "problems"),
    [
        ({"closes_at": 2}, {"closes_at": ["A phase closes after it opens."]}),
        ({"closes_at": 3}, {"closes_at": ["A phase closes after it opens."]}),
        ({"closes_at": 2, "split": "public", "private_at": 1}, {"closes_at": ["A phase closes after it opens."]}),
        ({"closes_at": 4, "name": "Final"}, {"__all__": ["Phase with this Benchmark and Name already exists."]}),
    ],
)
def test_what_the_database_would_refuse_of_a_phase_is_said_in_a_sentence(make, values, problems):
    benchmark, now = make.benchmark({}, n_tasks=1), timezone.now()
    phase_of(benchmark)
    moments = {name: now + days * DAY for name, days in values.items() if name.endswith("_at")}
    with pytest.raises(ValidationError) as caught:
        phase_of(benchmark, **{"name": "Other", "opens_at": now + 3 * DAY} | values | moments)
    assert caught.value.message_dict == problems


def test_changes_are_in_the_audit_trail_and_a_phase_with_predictions_stays(make):
    benchmark = make.benchmark({}, n_tasks=1)
    owner, phase = owner_of(benchmark), phase_of(benchmark)
    store_phase(benchmark, {"daily_cap": 3}, author=owner, number=phase.pk)
    entries = AuditEntry.objects.filter(benchmark=benchmark, field="phase").order_by("pk")
    assert [bool(entry.before) for entry in entries] == [False, True]
    assert "daily cap 3" in entries[1].after
    row = PredictionSubmission.objects.create(
        benchmark=benchmark, phase=phase, submitter=owner, source="form", statement={"name": "Mine"}
    )
    with pytest.raises(EvaluationError, match="so it stays"):
        delete_phase(benchmark, phase.pk, author=owner)
    row.delete()
    delete_phase(benchmark, phase.pk, author=owner)
    assert not Phase.objects.exists()
    with pytest.raises(EvaluationError, match="no such phase"):
        delete_phase(benchmark, phase.pk, author=owner)


def test_the_split_that_counts_is_the_private_one_once_the_board_went_private(make):
    phase = phase_of(make.benchmark({}, n_tasks=1), split="public")
    assert (counted_split(None), counted_split(phase)) == ("test", "public")
    phase.went_private_at = timezone.now()
    assert counted_split(phase) == "private"


def test_the_ladder_is_chosen_and_the_choice_is_in_the_audit_trail(make):
    benchmark = make.benchmark({}, n_tasks=1)
    assert not has_ladder(benchmark)
    with pytest.raises(EvaluationError, match="Upload references of a task first"):
        use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    checked = check_file(b"id,reference\na,x\nb,y\n", "labels.csv", "accuracy", {})
    store_references(benchmark.tasks.get(), checked, author=owner_of(benchmark))
    for _ in range(2):
        use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    assert has_ladder(benchmark)
    assert AuditEntry.objects.filter(of="ladder").values_list("before", "after").get() == ("no", "yes")


def test_caps_hold_for_a_day_and_in_all_and_what_was_cancelled_is_given_back(make):
    user, benchmark = make.user(), make.benchmark({}, n_tasks=1)
    phase = phase_of(benchmark, daily_cap=2, total_cap=3)
    for _ in range(2):
        take_prediction(phase, user, None, system_name="A", is_limited=True)
    with pytest.raises(EvaluationError, match="2 times a day; you have submitted 2"):
        take_prediction(phase, user, None, system_name="A", is_limited=True)
    assert predictions_left(phase, user, None) == {"today": 0, "in all": 1}
    take_prediction(phase, make.user(), None, system_name="A", is_limited=True)
    give_back_prediction(phase, user, None, submitted_at=timezone.now())
    assert predictions_left(phase, user, None) == {"today": 1, "in all": 2}
    for _ in range(3):
        take_prediction(phase, user, None, system_name="A", is_limited=False)
    PredictionCount.objects.filter(user=user).exclude(period="total").delete()
    with pytest.raises(EvaluationError, match="3 times in all; you have submitted 4"):
        take_prediction(phase, user, None, system_name="A", is_limited=True)


def test_members_of_a_team_share_one_quota_and_its_systems_are_limited(make):
    benchmark = make.benchmark({}, n_tasks=1)
    phase, first, second = phase_of(benchmark, total_cap=2, max_systems=1), make.user(), make.user()
    team = found_team(benchmark, first, "Owls")
    take_prediction(phase, first, team, system_name="A", is_limited=True)
    PredictionSubmission.objects.create(
        benchmark=benchmark, phase=phase, submitter=first, team=team, source="form", statement={"name": "A"}
    )
    with pytest.raises(EvaluationError, match="your team has 1"):
        take_prediction(phase, second, team, system_name="B", is_limited=True)
    take_prediction(phase, second, team, system_name="a", is_limited=True)
    with pytest.raises(EvaluationError, match="2 times in all; your team has submitted 2"):
        take_prediction(phase, first, team, system_name="A", is_limited=True)


def test_two_at_once_do_not_both_pass_the_last_free_place(make_committed):
    benchmark, user = make_committed.benchmark({}, n_tasks=1), make_committed.user()
    phase = phase_of(benchmark, total_cap=1)

    def take() -> bool:
        try:
            with transaction.atomic():
                take_prediction(phase, user, None, system_name="A", is_limited=True)
        except EvaluationError:
            return False
        finally:
            connection.close()
        return True

    assert sorted(at_once([take, take])) == [False, True]


@pytest.mark.parametrize("opens_in", [-DAY, 2 * DAY])
def test_where_the_development_split_counts_no_trial_run_tells_its_scores(make, opens_in):
    benchmark, user, now = hidden_benchmark(make), make.user(), timezone.now()
    phase_of(benchmark, split="development", total_cap=1, opens_at=now + opens_in, closes_at=now + 3 * DAY)
    trial = upload(animals=labels_file(ids=range(2)), is_trial=True)
    for _ in range(3):
        with pytest.raises(EvaluationError, match="no trial runs: Final counts the development split"):
            submit_predictions(benchmark, user, trial)
    assert not PredictionSubmission.objects.exists()
    Phase.objects.update(opens_at=now - 3 * DAY, closes_at=now - DAY)
    submit_predictions(benchmark, user, trial)
    assert score_all(benchmark) == ["done"]


def test_the_form_offers_no_trial_run_where_the_development_split_counts(make, client):
    benchmark, user = hidden_benchmark(make), make.user()
    client.force_login(user)
    path = f"/b/{benchmark.key}/predictions/new/"
    assert 'name="is_trial"' in client.get(path).content.decode()
    phase = phase_of(benchmark, split="development", daily_cap=2, total_cap=9)
    answer = client.get(path)
    assert 'name="is_trial"' not in answer.content.decode()
    of_phase = [term for term in answer.context["terms"] if term.startswith(phase.name)]
    assert len(of_phase) == 1  # all that is to be known of it
    assert of_phase[0].endswith("You can still submit 2 today and 9 in all.")


def test_no_score_on_both_splits_gives_the_private_ones_away(make):
    benchmark, user, now = texts_benchmark(make), make.user(), timezone.now()
    old = phase_of(benchmark, "Old", opens_at=now - DAY, closes_at=now + DAY)
    halves = REFERENCES.replace("test", "public").replace("i7,dog,public", "i7,dog,private")
    add_references(benchmark.tasks.get(key="animals"), halves, "exact_match", by=owner_of(benchmark))
    phase_of(benchmark, "Public", split="public", opens_at=now + DAY, closes_at=now + 2 * DAY, private_at=now + 9 * DAY)
    with pytest.raises(ValidationError) as caught:
        phase_of(benchmark, "Between", opens_at=now + 3 * DAY, closes_at=now + 4 * DAY)
    assert [message.partition(".")[0] for message in caught.value.message_dict["split"]] == [
        "The references of Animals have a public and a private split"
    ]
    with pytest.raises(EvaluationError, match="Animals have a public and a private split"):
        submit_predictions(benchmark, user, upload())
    store_phase(benchmark, {"closes_at": now}, author=owner_of(benchmark), number=old.pk)
    Phase.objects.all().delete()
    with pytest.raises(EvaluationError, match="only a phase on the public split can take predictions"):
        submit_predictions(benchmark, user, upload())
    phase_of(benchmark, split="public")
    submit_predictions(benchmark, user, upload())
    assert score_all(benchmark) == ["done"]
