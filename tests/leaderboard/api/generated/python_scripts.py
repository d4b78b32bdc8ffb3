"""Ten scripts with the client that openapi-python-client makes: `python python_scripts.py URL TOKEN KEY`.

They run in an environment that has this client alone, and print what they got as JSON, by script.
"""

import csv
import io
import json
import sys

from plurank_client import AuthenticatedClient, Client
from plurank_client.api.benchmarks import benchmarks, folder, tasks
from plurank_client.api.comparisons import head_to_head
from plurank_client.api.hosting import change_settings, create_benchmark
from plurank_client.api.people import me
from plurank_client.api.rankings import board, ranking, ranking_under_weights
from plurank_client.api.submissions import import_results, own_submissions, submission, submit
from plurank_client.api.systems import scores, scores_file
from plurank_client.models.benchmark_body import BenchmarkBody
from plurank_client.models.error import Error
from plurank_client.models.import_body import ImportBody
from plurank_client.models.patched_settings_body import PatchedSettingsBody
from plurank_client.models.submission_body import SubmissionBody
from plurank_client.models.weights_body import WeightsBody

url, token, key = sys.argv[1:]
anyone, owner = Client(base_url=url), AuthenticatedClient(base_url=url, token=token)
NEW = {"systems": [{"name": "New", "scores": {"task-1": 9.5, "task-2": 1}}], "create_systems": True, "note": "A try."}


def pages():
    """All benchmarks, a page at a time."""
    cursor, keys = "", []
    while True:
        page = benchmarks.sync(client=owner, cursor=cursor, page_size=1)
        keys += [one.key for one in page.results]
        if page.next_ is None:
            return {"keys": sorted(keys), "count": page.count}
        cursor = page.next_.partition("cursor=")[2].partition("&")[0]


def one_ranking():
    """The ranks under a rule."""
    page = ranking.sync(key, "borda", client=anyone)
    return {line.system: line.rank for line in page.results}


def table():
    """The scores as a file, and the same from the page of JSON."""
    rows = list(csv.DictReader(io.StringIO(scores_file.sync(key, client=anyone))))
    page = scores.sync(key, client=anyone)
    return {"rows": len(rows), "results": len(page.results), "columns": list(rows[0])}


def whole_board():
    """Which rules the board has, and for how many systems."""
    page = board.sync(key, client=anyone)
    return {"rules": sorted(one.key for one in page.rules), "systems": [one.name for one in page.systems]}


def pair():
    """Two systems, task by task."""
    return len(head_to_head.sync(key, client=anyone, a="a", b="b").tasks)


def weighted():
    """A ranking under other weights."""
    body = WeightsBody.from_dict({"weights": {"task-1": 3, "task-2": "1/2"}})
    return ranking_under_weights.sync(key, "borda", client=anyone, body=body).status


def dry_run():
    """What a submission would change."""
    preview = submit.sync(key, client=owner, body=SubmissionBody.from_dict(NEW), dry_run=True)
    return {"accepted": preview.would_be_accepted, "names": [one.name for one in preview.systems]}


def submitted():
    """A submission, sent twice under one key, with its state and in the list of one's own."""
    body = SubmissionBody.from_dict(NEW)
    first, again = (submit.sync(key, client=owner, body=body, idempotency_key="run-1") for _ in range(2))
    listed = own_submissions.sync(client=owner, benchmark=key)
    state = submission.sync(first.uuid, client=owner).state
    return {
        "is_one": first.uuid == again.uuid,
        "state": str(state),
        "listed": str(first.uuid) in {str(one.uuid) for one in listed.results},
        "who": bool(me.sync(client=owner).name),
    }


def imported():
    """What a result file would change."""
    body = ImportBody.from_dict({"files": [{"name": "scores.csv", "text": "model,task-1\nNew,9.5\n"}]})
    preview = import_results.sync(key, client=owner, body=body, dry_run=True)
    return [one.assigned for one in preview.columns]


def hosted():
    """A benchmark that is made, changed and read."""
    made = create_benchmark.sync(
        client=owner, body=BenchmarkBody.from_dict({"name": "Made here", "tasks": [{"name": "QA", "weight": "0.5"}]})
    )
    changed = change_settings.sync(made.key, client=owner, body=PatchedSettingsBody.from_dict({"tags": ["made"]}))
    return {"tags": changed.tags, "tasks": [one.name for one in tasks.sync(made.key, client=owner).results]}


def refused():
    """Errors with their places; a token that is none."""
    wrong = submit.sync(key, client=owner, body=SubmissionBody.from_dict({"systems": [{"name": "X", "scores": {}}]}))
    nobody = me.sync(client=AuthenticatedClient(base_url=url, token="none"))
    return [isinstance(one, Error) for one in (wrong, nobody)]


def archive():
    """The folder as a zip."""
    return folder.sync(key, client=anyone).payload.read(2).decode()


scripts = (
    pages, one_ranking, table, whole_board, pair, weighted, dry_run, submitted, imported, hosted, refused, archive
)  # fmt: skip
print(json.dumps({script.__name__: script() for script in scripts}))
