"""A study to test with: who leads on a random task, with draws of its own for every trial.

`celery --include tests.jobs.small_study` makes it the only study of a worker process; PLURANK_TEST_PAUSE is how many
seconds every trial of such a process rests, so that there is time to kill it.
"""

import os
import time

import numpy as np

from ranking_engine.stability import catalogue
from ranking_engine.stability.catalogue import Study, StudyResult
from ranking_engine.stability.parameters import INTEGER, Parameter

PAUSE = float(os.environ.get("PLURANK_TEST_PAUSE", "0"))
TRIALS_A_CHUNK = 10


def leaders(matrix, parameters, seed, chunk, progress):
    trials = range(chunk * TRIALS_A_CHUNK, min((chunk + 1) * TRIALS_A_CHUNK, parameters["n_trials"]))
    systems = []
    for done, trial in enumerate(trials):
        task = np.random.default_rng([seed, trial]).integers(matrix.n_tasks)
        systems.append(int(np.argmax(matrix.scores[:, task])))
        time.sleep(PAUSE)
        if progress is not None:
            progress(done + 1, len(trials))
    return {"leaders": np.array(systems, np.int64)}


def put_together(matrix, parameters, seed, partials):
    whole = np.concatenate([partial["leaders"] for partial in partials])
    counts = np.bincount(whole, minlength=matrix.n_systems)
    return StudyResult({"n_trials": len(whole)}, {"leaders": whole, "counts": counts})


LEADERS = Study(
    number=1,
    key="leaders",
    name="leaders of random tasks",
    question="Who leads on a random task?",
    source="this test",
    declared=(
        Parameter("n_trials", 50, INTEGER, "Trials", least=1, most=10**6),
        Parameter("top", 1, INTEGER, "Top", least=1, most=100),
    ),
    n_chunks=lambda matrix, parameters: -(-parameters["n_trials"] // TRIALS_A_CHUNK),
    estimate=lambda matrix, parameters: 2.0 * parameters["n_trials"],
    run_chunk=leaders,
    merge=put_together,
    why_not=lambda matrix, parameters: "there is one system only" if matrix.n_systems < 2 else "",
    steps="n_trials",
)

if PAUSE:
    catalogue.STUDIES = {"leaders": LEADERS}
