"""A board's scores as records of Every Eval Ever: their shape, and what our importer makes of them."""

import io
import json
import zipfile

import jsonschema
import pytest
from django.test import override_settings

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark
from leaderboard.rankings.scores import systems_at
from leaderboard.rankings.tables import score_rows
from leaderboard.submissions.imports import read_import, rows_of_import, suggested
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def shape(required, **optional):
    """An object with these fields and no others; all of `required` are there."""
    return {
        "type": "object", "required": list(required), "additionalProperties": False,
        "properties": required | optional,
    }  # fmt: skip


DETAILS = {"type": "object", "additionalProperties": TEXT}
ABOUT_MODEL = DETAILS | {
    "required": ["deployment_type", "model_availability"],
    "properties": {
        "deployment_type": {"const": "unknown"},
        "model_availability": {"enum": ["open_weights", "closed_weights", "unknown"]},
    },
}
# What we write, within what version 0.3.0 of the format's schema allows: its required fields, and of the others some.
RECORD = shape(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "retrieved_timestamp": {"type": "string", "pattern": "^[0-9]+$"},
        "source_metadata": shape(
            {
                "source_type": {"const": "documentation"},
                "source_organization_name": TEXT,
                "evaluator_relationship": {"const": "other"},
            },
            source_name=TEXT,
            source_organization_url=TEXT,
            additional_details=DETAILS,
        ),
        "eval_library": shape({"name": TEXT, "version": TEXT}),
        "model_info": shape({"name": TEXT, "id": TEXT, "additional_details": ABOUT_MODEL}, developer=TEXT),
        "evaluation_results": {
            "type": "array",
            "items": shape(
                {
                    "evaluation_name": TEXT,
                    "source_data": shape({"dataset_name": TEXT, "source_type": {"const": "other"}}),
                    "metric_config": shape(
                        {"lower_is_better": {"type": "boolean"}},
                        metric_name=TEXT,
                        metric_unit=TEXT,
                        score_type={"const": "continuous"},
                        min_score=NUMBER,
                        max_score=NUMBER,
                    )
                    | {"dependentRequired": {"score_type": ["min_score", "max_score"]}},
                    "score_details": shape(
                        {"score": NUMBER},
                        uncertainty=shape({}, standard_error=shape({"value": NUMBER}), num_samples={"type": "integer"}),
                    ),
                },
                evaluation_result_id=TEXT,
            ),
        },
    }
)


@pytest.fixture
def board(make):
    """Scores with everything that is known of some, a missing one, and a task without a direction."""
    tasks = [
        TaskSpec("Quiz", metric="acc", minimum=0, maximum=1),
        TaskSpec("Time", unit="s", direction=-1),
        TaskSpec("Colour", direction=0),
    ]
    benchmark = make.published({"lab/one": [0.1 + 0.2, 7.0, 3.0], "Zw\u00f6lf": [0.5, None, 1.0]}, tasks=tasks)
    fields = [
        {"key": "open-weights", "name": "Open weights", "kind": "yes_no"},
        {"key": "parameters", "name": "Parameters", "kind": "number"},
    ]
    Benchmark.objects.filter(pk=benchmark.pk).update(metadata_fields=fields)
    benchmark.refresh_from_db()
    row = SubmittedRow(
        "lab/one",
        {"Quiz": 0.61, "Time": 7, "Colour": 3},
        details={"Quiz": (0.01, 500)},
        organisation="Lab",
        url="https://lab.example",
        metadata={"open-weights": "yes", "parameters": "7000000000"},
    )
    submit_upload(benchmark, benchmark.memberships.get().user, Upload(rows=[row]))
    return make.publish(benchmark)


def records_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_values_of_fields_that_were_removed_are_in_no_record(client, board):
    Benchmark.objects.filter(pk=board.pk).update(metadata_fields=[])
    content = client.get(f"/b/{board.key}/exports/records.zip").content
    details = [record["model_info"]["additional_details"] for record in records_of(content).values()]
    assert [set(detail) <= {"deployment_type", "model_availability", "plurank_key", "url"} for detail in details] == [
        True
    ] * len(details)
    assert {detail["model_availability"] for detail in details} == {"unknown"}


def test_every_record_has_the_shape_of_the_format(client, board):
    response = client.get(f"/b/{board.key}/exports/records.zip")
    assert response["Content-Disposition"] == f'attachment; filename="{board.key}-every-eval-ever-r2.zip"'
    records = records_of(response.content)
    assert list(records) == [f"{board.key}/labone.json", f"{board.key}/zwolf.json"]
    for record in records.values():
        jsonschema.Draft202012Validator(RECORD).validate(record)
    one, two = records.values()
    assert one["model_info"] == {
        "name": "lab/one", "id": "lab/one", "developer": "Lab",
        "additional_details": {
            "deployment_type": "unknown", "model_availability": "open_weights", "plurank_key": "labone",
            "url": "https://lab.example", "open-weights": "true", "parameters": "7000000000",
        },
    }  # fmt: skip
    assert one["evaluation_results"] == [
        {
            "evaluation_result_id": "labone/quiz",
            "evaluation_name": "Quiz",
            "source_data": {"dataset_name": "Quiz", "source_type": "other"},
            "metric_config": {
                "lower_is_better": False, "metric_name": "acc",
                "score_type": "continuous", "min_score": 0.0, "max_score": 1.0,
            },
            "score_details": {
                "score": 0.61, "uncertainty": {"standard_error": {"value": 0.01}, "num_samples": 500}
            },
        },
        {
            "evaluation_result_id": "labone/time",
            "evaluation_name": "Time",
            "source_data": {"dataset_name": "Time", "source_type": "other"},
            "metric_config": {"lower_is_better": True, "metric_unit": "s"},
            "score_details": {"score": 7.0},
        },
    ]  # fmt: skip
    assert [result["evaluation_name"] for result in two["evaluation_results"]] == ["Quiz"]
    assert client.get(f"/b/{board.key}/exports/records.zip").content == response.content


def test_they_import_again_to_the_same_scores_errors_and_counts(client, board):
    content = client.get(f"/b/{board.key}/exports/records.zip").content
    results = read_import([("records.zip", content)])
    assert (results.format_key, results.warnings, results.notes) == ("every-eval-ever", [], [])
    audience = audience_of(board.memberships.get().user, board)
    rows = rows_of_import(audience, results, suggested(board, results))
    revision = board.publication.revision
    systems = systems_at(revision)
    expected = {
        system.name: {
            key: (cell.value, cell.standard_error, cell.n_instances)
            for key, cell in cells.items()
            if cell.value is not None and key != "colour"
        }
        for system, cells in zip(systems, score_rows(revision, systems), strict=True)
    }
    assert {
        row.system_name: {key: (score, *row.details.get(key, (None, None))) for key, score in row.scores.items()}
        for row in rows
    } == expected


def test_the_api_has_the_same_file_and_where_scores_are_hidden_ones_own_systems_alone(client, board, make):
    path = f"/api/v1/benchmarks/{board.key}/scores/?format=eee"
    response = client.get(path)
    assert (response["Content-Type"], response["Content-Disposition"]) == (
        "application/zip", f'attachment; filename="{board.key}-every-eval-ever-r2.zip"'
    )  # fmt: skip
    assert response.content == client.get(f"/b/{board.key}/exports/records.zip").content
    stranger = make.user()
    row = SubmittedRow("Other", {"Quiz": 0.4})
    submit_upload(board, stranger, Upload(rows=[row], creates_systems=True))
    make.publish(board)
    Benchmark.objects.filter(pk=board.pk).update(score_view="own")
    hidden = client.get(path)
    assert (hidden.status_code, hidden.json()["error"]["code"]) == (403, "forbidden")
    assert client.get(f"/b/{board.key}/exports/records.zip").status_code == 403
    _, secret = create_token(stranger, name="t", scopes=["read"], days=30)
    own = client.get(path, headers={"Authorization": f"Bearer {secret}"})
    assert list(records_of(own.content)) == [f"{board.key}/other.json"]


def test_what_is_too_large_or_empty_is_refused(client, board, make):
    with override_settings(IMPORT_BYTES=1_000):
        refused = client.get(f"/b/{board.key}/exports/records.zip")
    assert (refused.status_code, b"more than 0 MB" in refused.content) == (422, True)
    undirected = make.published({"A": [1.0]}, tasks=[TaskSpec("Colour", direction=0)])
    error = client.get(f"/api/v1/benchmarks/{undirected.key}/scores/?format=eee").json()["error"]
    assert (error["code"], error["message"]) == ("not_writable", "No system has a score on a task with a direction.")
    refused = client.get(f"/b/{undirected.key}/exports/records.zip")
    assert (refused.status_code, b"No system has a score on a task with a direction." in refused.content) == (422, True)
