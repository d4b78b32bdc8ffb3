"""A small site that has something to show on every page, with everything computed here and now.

The scores of GLUE, HELM, HEIM and VTAB are the demonstration's; what is called "Newcomer" or "Laboratory" is made up.
"""

from dataclasses import dataclass

from jobs.runner import run_job
from leaderboard.access.audience import audience_of
from leaderboard.accounts.people import invite
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.drafts import make_benchmark_draft
from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.models import (
    Batch,
    Benchmark,
    BenchmarkDraft,
    Draft,
    Experiment,
    Job,
    StudyChoice,
    Submission,
    System,
    User,
)
from leaderboard.notifications.mails import unsubscribe_link
from leaderboard.queue.kinds import BOOTSTRAP, EXPERIMENT, INSTANCES, PROSPECTS, RANKINGS, SIGNIFICANCE
from leaderboard.studies.experiments.start import propose, start
from leaderboard.studies.plans import chosen_studies
from leaderboard.submissions.corrections import complete_row, correctable
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, store_batch
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.browser.by_hand import DEMONSTRATION
from tests.browser.hosted import Hosted, set_up
from tests.factories import Factory

SMALL = "vtab"
# The two of HEIM have the same systems, for the page that compares benchmarks.
WITHOUT_STUDIES = ("glue", "helm-accuracy", "heim-aesthetics-human", "heim-alignment-human")
BRIEF_SECONDS = 2  # of each study of the small benchmark
NOTE = "As measured by our own harness, three runs each."


@dataclass
class Stage:
    """What the pages are asked for."""

    owner: User
    submitter: User
    draft: Draft
    table_draft: Draft
    pending: Batch
    accepted: Batch
    corrected: Submission
    new: BenchmarkDraft
    experiment: Experiment
    invitation: str
    unsubscribe: str
    hosted: Hosted


def set_stage() -> Stage:
    """Make the benchmarks, their histories and a queue, and run every job that a picture needs."""
    make = Factory()
    owner = make.user("Owner", is_staff=True)
    submitter = make.user("Laboratory")
    for key in WITHOUT_STUDIES:
        import_folder(DEMONSTRATION / key, owner=owner, submission_policy="open")
    small = import_folder(DEMONSTRATION / SMALL, owner=owner, submission_policy="open", missing_policy="drop_systems")
    for study in chosen_studies():
        StudyChoice.objects.create(benchmark=small, study=study, when="every", budget_seconds=BRIEF_SECONDS)
    run_jobs(small, RANKINGS)
    _label_shares(small)
    accepted = _history(make, small, owner, submitter)
    corrected = _correct(small, owner)
    freeze_revision(small, author=owner, number=1, name="First edition", note="As the paper printed it.")
    _instances(make, owner)
    make.benchmark({}, name="Empty", key="empty", owner=owner, n_tasks=3)
    Job.objects.filter(state="waiting", kind="axioms").update(parameters={"seed": 0, "max_steps": 1, "seconds": 0})
    for key in WITHOUT_STUDIES:
        kinds = (RANKINGS, "slow_rankings", PROSPECTS, SIGNIFICANCE, BOOTSTRAP, "axioms")
        run_jobs(Benchmark.objects.get(key=key), *kinds)
    experiment = _experiment(submitter)
    run_jobs(Benchmark.objects.get(key="instanced"), RANKINGS, INSTANCES)
    run_jobs(small)
    hosted = set_up(make, owner, submitter)
    Job.objects.filter(state="waiting").delete()  # else the status page tells of work that nobody will do
    small.refresh_from_db()
    create_token(submitter, name="nightly upload", scopes=["read", "submit"], days=90)
    scores = _near(small, "Sup-Rotation-100%", 0.4)
    row = SubmittedRow(system_name="Newcomer 2", organisation="Laboratory", scores=_texts(small, scores))
    draft = make_draft(audience_of(submitter, small), [row], source="form", note=NOTE)
    rows = [
        SubmittedRow(system_name=f"Variant {k}", scores=_texts(small, _near(small, "Rotation", k / 3)))
        for k in (1, 2, 3)
    ]
    table_draft = make_draft(audience_of(submitter, small), rows, source="csv", note=NOTE)
    Benchmark.objects.filter(pk=small.pk).update(submission_policy="moderated")
    small.refresh_from_db()
    pending = _pending(make, small, submitter, "Newcomer 3", _near(small, "Sup-Exemplar-100%", 0.2))
    _pending(make, small, make.user("Another laboratory"), "Suspiciously good", [99.0] * small.tasks.count())
    table = (DEMONSTRATION / "heim-quality-human" / "scores.csv").read_bytes()
    new = make_benchmark_draft(submitter, name="Image quality", table=table)
    invitation = invite(Benchmark.objects.get(key="glue"), author=owner, role="moderator")
    stop = unsubscribe_link(submitter, ["decision"]).rstrip("/").rpartition("/")[2]
    return Stage(
        owner, submitter, draft, table_draft, pending, accepted, corrected, new, experiment, invitation, stop, hosted
    )


def run_jobs(benchmark: Benchmark, *kinds: str) -> None:
    """Run a benchmark's waiting jobs, of all kinds or of some, and those that they bring with them."""
    while True:
        waiting = Job.objects.filter(benchmark=benchmark, state="waiting").order_by("-priority", "pk")
        job = (waiting.filter(kind__in=kinds) if kinds else waiting).first()
        if job is None:
            return
        run_job(job.pk, worker="stage")


def _label_shares(small: Benchmark) -> None:
    """What the names of the systems say: the share of the labels that they were trained with."""
    fields = [{"key": "labels", "name": "Labels used", "kind": "number", "unit": "%"}]
    Benchmark.objects.filter(pk=small.pk).update(metadata_fields=fields)
    for share in (10, 100):
        System.objects.filter(benchmark=small, name__endswith=f"-{share}%").update(metadata={"labels": share})


def _experiment(user: User) -> Experiment:
    """How far other weights move the first twelve systems of GLUE, for four ε."""
    audience = audience_of(user, Benchmark.objects.get(key="glue"))
    parameters = {"first": 12, "least_weights": [0.01, 0.1, 0.3, 1.0]}
    experiment, _ = start(audience, propose(audience, "cardinal_sensitivity", parameters))
    run_jobs(audience.benchmark, EXPERIMENT)
    return experiment


def _history(make: Factory, small: Benchmark, owner: User, submitter: User) -> Batch:
    small.refresh_from_db()
    own = _near(small, "Sup-Rotation-100%", -0.5)
    batch = make.submitted(small, "Newcomer", list(_texts(small, own).values()), by=submitter)
    run_jobs(small, RANKINGS)
    small.refresh_from_db()
    accept_batch(_pending(make, small, owner, "Newcomer with gaps", [*own[:-2], None, None]), actor=owner)
    run_jobs(small, RANKINGS)
    return batch


def _correct(small: Benchmark, owner: User) -> Submission:
    small.refresh_from_db()
    submission = Submission.objects.get(benchmark=small, system__name="Newcomer")
    task = small.tasks.order_by("order")[0]
    system = {"name": "Newcomer", "organisation": "", "url": "", "description": ""}
    row = {"system": system, "scores": {task.key: {"value": 95.0}}, "line": None}
    row, problems = complete_row(correctable(audience_of(owner, small), str(submission.uuid)), row)
    assert not problems, problems
    about = {"source": "correction", "note": "The wrong checkpoint was measured."}
    accept_batch(store_batch(small, owner, [row], **about), actor=owner)
    run_jobs(small, RANKINGS)
    return submission.corrections.get()  # what holds now, and can be corrected in its turn


def _instances(make: Factory, owner: User) -> None:
    instanced = make.benchmark({}, name="Instanced", key="instanced", n_tasks=2, owner=owner)
    lines = [
        f"System {name},Task {t},{u},{int((u * (k + t) + k) % 7 < 3 + k % 3)}\n"
        for k, name in enumerate("ABCDE", start=1)
        for t in (1, 2)
        for u in range(40)
    ]
    table = ("system,task,instance,score\n" + "".join(lines)).encode()
    submit_upload(instanced, owner, Upload(table=table, is_of_instances=True, creates_systems=True))


def _near(small: Benchmark, name: str, shift: float) -> list[float]:
    """The scores of a system of the small benchmark, every other task a little better or worse."""
    submission = Submission.objects.filter(benchmark=small, system__name=name).earliest("pk")
    values = [score.value for score in submission.scores.order_by("task__order")]
    return [round(value + (shift if t % 2 else -shift / 2), 2) for t, value in enumerate(values)]


def _texts(small: Benchmark, scores: list[float]) -> dict[str, str]:
    keys = [task.key for task in small.tasks.order_by("order")]
    return {key: f"{value:g}" for key, value in zip(keys, scores, strict=True)}


def _pending(make: Factory, small: Benchmark, by: User, name: str, scores: list[float | None]) -> Batch:
    return make.pending(small, {name: scores}, by=by)
