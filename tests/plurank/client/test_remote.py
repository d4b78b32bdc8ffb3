"""Waiting for what was sent to a site, against a site that is a list of answers."""

import time

import pytest

from plurank.client.predictions import RemotePredictions
from plurank.client.submissions import RemoteSubmission

BOTH = pytest.mark.parametrize(
    ("kind", "address", "waiting", "end"),
    [
        (RemoteSubmission, "submissions/x/", "accepted", "published"),
        (RemotePredictions, "predictions/x/", "waiting", "scored"),
    ],
)


class Answers:
    """A connection to a site that gives these states one after the other, the last one again and again."""

    def __init__(self, *states):
        self.states, self.addresses = list(states), []

    def get(self, address):
        self.addresses.append(address)
        return {"uuid": "x", "state": self.states.pop(0) if len(self.states) > 1 else self.states[0]}


@pytest.fixture
def pauses(monkeypatch):
    """The seconds that are waited, which pass at once."""
    now, waited = [0.0], []

    def sleep(seconds):
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return waited


@BOTH
def test_the_site_is_asked_before_a_state_is_believed(pauses, kind, address, waiting, end):
    answers = Answers("refused" if end == "scored" else "withdrawn")
    sent = kind(answers, {"uuid": "x", "state": end})  # as it was when it was sent
    assert sent.wait(0) is sent
    assert sent.state == answers.states[0]
    assert answers.addresses == [address]
    assert pauses == []


@BOTH
def test_pauses_grow_and_the_last_one_ends_with_the_time(pauses, kind, address, waiting, end):
    answers = Answers(waiting)
    with pytest.raises(TimeoutError, match=rf" x (is|are) still {waiting} after 30 seconds$"):
        kind(answers, {"uuid": "x", "state": waiting}).wait(30)
    assert pauses == [0.25, 0.5, 1, 2, 4, 8, 10, 4.25]
    assert len(answers.addresses) == len(pauses) + 1  # asked once more when the time was over


@BOTH
def test_waiting_ends_with_the_work(pauses, kind, address, waiting, end):
    sent = kind(Answers(waiting, waiting, end), {"uuid": "x", "state": waiting})
    assert sent.wait().state == end
    assert pauses == [0.25, 0.5]
    assert repr(sent) == f"{kind.__name__}('x', {end})"
