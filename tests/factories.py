"""Things to test with, made by the services that make them on the site."""

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.test import override_settings

from jobs.runner import run_job
from leaderboard.access.audience import Audience, audience_of
from leaderboard.benchmarks.create import TaskSpec, create_benchmark
from leaderboard.models import Batch, Benchmark, Draft, Experiment, Job, Membership, Revision, Submission, User
from leaderboard.models.submissions import Source
from leaderboard.queue.kinds import AXIOMS, EXPERIMENT
from leaderboard.studies.experiments.start import propose, start
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import _accept, confirm_draft, store_batch
from leaderboard.submissions.rows import SubmittedRow

# Task 1: A B C D. Task 2: A C D B. Task 3: B D C A. Task 4: C B D A. Task 5: D B C A (best first).
TOY_ORDERS = ("ABCD", "ACDB", "BDCA", "CBDA", "DBCA")
TOY = {name: [4.0 - order.index(name) for order in TOY_ORDERS] for name in "ABCD"}
# Nobody stands out: what is new and lies among these is no outlier.
SIX_SYSTEMS = {f"S{i}": [10.0 + i, 50.0 - i] for i in range(6)}


def owner_of(benchmark: Benchmark) -> User:
    """The one owner of a benchmark."""
    return benchmark.memberships.get(role="owner").user


def audience_of_draft(draft: Draft) -> Audience:
    """What a draft's owner is now to its benchmark as it is now."""
    return audience_of(draft.owner, Benchmark.objects.get(pk=draft.benchmark_id))


class Factory:
    """Makes users, benchmarks, submissions; each call makes a new one."""

    def __init__(self, first_number: int = 1) -> None:
        self._numbers = itertools.count(first_number)

    def user(self, name: str = "", **fields: Any) -> User:
        """A user without a password; sign in with `client.force_login`."""
        number = next(self._numbers)
        name = name or f"user{number}"
        return User.objects.create_user(f"{name}{number}@plurank.example", display_name=name, **fields)

    def benchmark(
        self,
        scores: Mapping[str, Sequence[float | None]] | None = None,
        *,
        owner: User | None = None,
        n_tasks: int | None = None,
        tasks: Sequence[TaskSpec] | None = None,
        **fields: Any,
    ) -> Benchmark:
        """A benchmark with systems; `scores` maps a system's name to its scores, None where one is missing.

        With scores it has revision 1, which is not computed yet (`publish` does that). Default: the toy.
        """
        scores = TOY if scores is None else scores
        width = n_tasks or (len(next(iter(scores.values()))) if scores else 5)
        owner = owner or self.user("owner")
        benchmark = create_benchmark(
            name=fields.pop("name", f"Benchmark {next(self._numbers)}"),
            owner=owner,
            tasks=tasks or [TaskSpec(f"Task {t}", weight=Decimal(1)) for t in range(1, width + 1)],
            **({"submission_policy": "open"} | fields),
        )
        if scores:
            self.accepted(benchmark, scores, by=owner)
        return benchmark

    def pending(
        self, benchmark: Benchmark, scores: Mapping[str, Sequence[float | None]], *, by: User, **about: Any
    ) -> Batch:
        """A stored batch that nobody has decided on; `about` it as `store_batch` takes it."""
        keys = [task.key for task in benchmark.tasks.all()]
        rows = []
        for name, values in scores.items():
            cells = {
                key: {"missing": "not_reported"} if value is None else {"value": float(value)}
                for key, value in zip(keys, values, strict=True)
            }
            system = {"name": name, "organisation": "", "url": "", "description": ""}
            rows.append({"system": system, "scores": cells, "line": None})
        return store_batch(benchmark, by, rows, source=Source.API, **about)

    def accepted(
        self, benchmark: Benchmark, scores: Mapping[str, Sequence[float | None]], *, by: User | None = None
    ) -> Revision:
        """A batch accepted at once, as where no one has to decide; returns the revision that it made."""
        by = by or owner_of(benchmark)
        with transaction.atomic():
            return _accept(self.pending(benchmark, scores, by=by), actor=by, reason="")

    def submitted(self, benchmark: Benchmark, name: str, texts: Sequence[str], *, by: User) -> Batch:
        """A batch as it comes in through the form: draft, then confirmation."""
        keys = [task.key for task in benchmark.tasks.all()]
        row = SubmittedRow(system_name=name, scores=dict(zip(keys, texts, strict=True)))
        draft = make_draft(audience_of(by, benchmark), [row], source=Source.FORM)
        benchmark.refresh_from_db()
        return confirm_draft(draft, actor=by, previewed_number=benchmark.last_revision_number, creates_systems=True)

    def publish(self, benchmark: Benchmark, *, studies: bool = False) -> Benchmark:
        """Run the benchmark's waiting jobs here and now, and load what was published.

        The search for violations of properties is cut to nothing: it would take seconds, and its own tests run it.
        """
        jobs = Job.objects.filter(benchmark=benchmark, state="waiting").order_by("pk")
        jobs.filter(kind=AXIOMS).update(parameters={"seed": 0, "max_steps": 1, "seconds": 0})
        # The thread that renews a lease has a connection of its own, which does not see what a test has not committed.
        with override_settings(JOB_LEASE_SECONDS=600):
            for job in jobs if studies else jobs.filter(queue="rankings"):
                run_job(job.pk, worker="test")
        return Benchmark.objects.select_related("publication__revision__configuration").get(pk=benchmark.pk)

    def published(self, *args: Any, **fields: Any) -> Benchmark:
        """A benchmark whose board is there."""
        return self.publish(self.benchmark(*args, **fields))

    def experiment(self, benchmark: Benchmark, study: str = "diversity", *, by: User, **given: Any) -> Experiment:
        """A finished experiment on what a benchmark has published."""
        audience = audience_of(by, benchmark)
        experiment, _ = start(audience, propose(audience, study, given))
        with override_settings(JOB_LEASE_SECONDS=600):
            same = {"subject_id": experiment.revision_id, "parameter_hash": experiment.parameter_hash}
            run_job(Job.objects.get(kind=EXPERIMENT, **same).pk, worker="test")
        return experiment

    def member(self, benchmark: Benchmark, role: str, name: str = "") -> User:
        """A new user with a role on the benchmark, called as the role where they have no name."""
        user = self.user(name or role)
        Membership.objects.create(user=user, benchmark=benchmark, role=role)
        return user

    def submission_of(self, batch: Batch) -> Submission:
        """The one submission of a batch of one."""
        return batch.submissions.get()
