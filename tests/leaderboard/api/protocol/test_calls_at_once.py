"""A program that does not wait for its answer and calls again."""

from leaderboard.models import Batch, Revision
from tests.concurrency import at_once
from tests.leaderboard.api.conftest import Api
from tests.leaderboard.api.uploads import body, path_of, scores


def test_two_calls_with_one_key_at_the_same_time_are_one_submission(make_committed, schema):
    benchmark = make_committed.benchmark()
    sender = Api(schema).as_user(make_committed.user(), "submit")
    sent = body({"name": "E", "scores": scores(1)}, create_systems=True)
    calls = at_once([lambda: sender.post(path_of(benchmark), sent, Idempotency_Key="k")] * 4)
    assert sorted(call.status_code for call in calls) == [200, 200, 200, 201]
    assert len({call.json()["uuid"] for call in calls}) == 1
    assert Batch.objects.count() == 2
    assert Revision.objects.filter(benchmark=benchmark).count() == 2
