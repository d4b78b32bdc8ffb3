"""What is written again for a test is what the services wrote, and only where nothing could be different."""

import pytest
from django.apps import apps
from django.db import transaction

from leaderboard.models import Report
from tests.factories import Factory
from tests.leaderboard.replays import replayed_calls


def everything_stored() -> dict[str, list[tuple]]:
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    return {model._meta.db_table: list(model._base_manager.order_by("pk").values_list()) for model in models}


def rows_after(write, patches) -> dict[str, list[tuple]]:
    """What is stored after a factory has written, which is then taken back."""
    with transaction.atomic(), replayed_calls(patches) as replays:
        write(Factory(replays))
        rows = everything_stored()
        transaction.set_rollback(True)
    return rows


def publish(make: Factory) -> None:
    benchmark = make.published({"Swift": [3.0, 1.0], "Wren": [2.0, None]}, name="Birds", owner=make.user("owner"))
    make.pending(benchmark, {"Finch": [1.0, 1.0]}, by=make.member(benchmark, "member"))


def test_a_board_that_is_written_again_has_the_rows_that_were_computed_to_the_last_byte(db, monkeypatch):
    rows_after(publish, monkeypatch)
    computed, replayed = rows_after(publish, monkeypatch), rows_after(publish, monkeypatch)
    assert len(computed["leaderboard_report"]) > 20
    assert len(computed["leaderboard_score"]) == 6
    assert replayed == computed


@pytest.mark.parametrize("change", ["other scores", "a setting", "a patch", "a row"])
def test_what_could_be_different_is_computed_anew(db, monkeypatch, settings, change):
    def write(make: Factory) -> None:
        if change == "a row":
            Report.objects.filter(pk=0).delete()
            make.user("writer").save()
        make.published({"Swift": [float(change == "other scores"), 0.5]}, name=f"Before {change}")

    def write_first(make: Factory) -> None:
        make.published({"Swift": [0.0, 0.5]}, name=f"Before {change}")

    for _ in range(2):
        before = rows_after(write_first, monkeypatch)["leaderboard_report"]
    if change == "a setting":
        settings.JOB_LEASE_SECONDS = 77
    if change == "a patch":
        monkeypatch.setenv("PLURANK_OF_A_TEST", "1")
    after = rows_after(write, monkeypatch)["leaderboard_report"]
    place = [field.attname for field in Report._meta.concrete_fields].index("created_at")
    assert {row[place] for row in before} & {row[place] for row in after} == set()
