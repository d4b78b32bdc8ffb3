"""What pages show of experiments: each with its parameters, its state and its result."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.utils.translation import gettext, gettext_noop

from leaderboard.models import Benchmark, Experiment, Job, Report
from leaderboard.queue.kinds import EXPERIMENT
from leaderboard.queue.queries import error_line, jobs_about
from leaderboard.studies.findings import findings
from leaderboard.studies.page import left_out, names_at, slow_rule_texts
from leaderboard.studies.study_findings import StudyFindings
from ranking_engine.stability.catalogue import EXPERIMENTS, Study

REMOVED = "removed"
STATE_TEXTS = {
    "waiting": gettext_noop("Queued."),
    "running": gettext_noop("Running:"),
    "superseded": gettext_noop("Cancelled."),
    REMOVED: gettext_noop(
        "The result was deleted with the ranks of this old revision. Run it again on the current board."
    ),
}


@dataclass(frozen=True)
class ExperimentState:
    """One experiment and its state.

    Attributes:
        experiment: the row, with its revision.
        name: of its study.
        state: a state of its job, or `removed`.
        progress: the share that is done, 0 to 1.
        reason: why it failed.
        report: what it found; None while it is not there.
    """

    experiment: Experiment
    name: str
    state: str
    progress: float
    reason: str
    report: Report | None

    @property
    def state_text(self) -> str:
        """Its state as a sentence; empty once it is done."""
        if self.state == Job.State.FAILED:
            if not self.reason:
                return gettext("It could not be computed.")
            return gettext("It could not be computed: %(reason)s") % {"reason": self.reason}
        return gettext(STATE_TEXTS[self.state]) if self.state in STATE_TEXTS else ""

    @property
    def progress_percent(self) -> int | None:
        """How far a running one is."""
        return round(100 * self.progress) if self.state == Job.State.RUNNING else None


def experiment_at(benchmark: Benchmark, number: int) -> Experiment:
    """The experiment of this number on a benchmark.

    Raises:
        Http404: there is none, or the scores of its revision were taken down.
    """
    rows = Experiment.objects.select_related("revision__configuration")
    experiment = rows.filter(benchmark=benchmark, pk=number, revision__withdrawn_at=None).first()
    if experiment is None:
        raise Http404(gettext("There is no experiment %(number)s on this benchmark.") % {"number": number})
    return experiment


def state_of(experiment: Experiment) -> ExperimentState:
    """The state of an experiment, with its report."""
    same = {"parameter_hash": experiment.parameter_hash, "engine_version": experiment.engine_version}
    report = Report.objects.filter(revision_id=experiment.revision_id, kind=EXPERIMENT, **same).first()
    job = jobs_about(experiment.revision_id).filter(kind=EXPERIMENT, **same).first()
    return _state(experiment, job, report)


def states_of(experiments: Iterable[Experiment]) -> list[ExperimentState]:
    """The states of several experiments of one benchmark: two queries, however many there are."""
    rows = list(experiments)
    hashes, revisions = {row.parameter_hash for row in rows}, {row.revision_id for row in rows}
    jobs = {
        (job.subject_id, job.parameter_hash, job.engine_version): job
        for job in Job.objects.filter(kind=EXPERIMENT, subject_id__in=revisions, parameter_hash__in=hashes)
    }
    reports = {
        (report.revision_id, report.parameter_hash, report.engine_version): report
        for report in Report.objects.filter(kind=EXPERIMENT, revision__in=revisions, parameter_hash__in=hashes).defer(
            "arrays", "summary"
        )
    }
    keys = [(row.revision_id, row.parameter_hash, row.engine_version) for row in rows]
    return [_state(row, jobs.get(key), reports.get(key)) for row, key in zip(rows, keys, strict=True)]


def _state(experiment: Experiment, job: Job | None, report: Report | None) -> ExperimentState:
    state, progress, reason = REMOVED, 0.0, ""
    if report is not None:
        state, progress = Job.State.DONE, 1.0
    elif job is not None and job.state != Job.State.DONE:
        state, progress = job.state, job.progress
        reason = error_line(job.error) if job.state == Job.State.FAILED else ""
    return ExperimentState(
        experiment,
        gettext(EXPERIMENTS[experiment.study].name) if experiment.study in EXPERIMENTS else experiment.study,
        state,
        progress,
        reason,
        report,
    )


@dataclass(frozen=True)
class ExperimentFindings:
    """What an experiment found: in words, as a table and as a chart; and which rules are left out, by reason."""

    findings: StudyFindings
    not_studied: list[tuple[str, list[str]]]
    slow_rules: list[str]


def findings_of(benchmark: Benchmark, state: ExperimentState) -> ExperimentFindings | None:
    """What a finished experiment found; None while it is not there."""
    if state.report is None:
        return None
    summary: Mapping[str, Any] = state.report.summary
    names = names_at(benchmark, state.experiment.revision)
    # Sentences are about the board's own rule where it is studied, else about the first.
    default, rules = benchmark.default_rule, summary.get("rules")
    if isinstance(rules, dict):
        marked = default if default in rules else next(iter(rules), default)
    else:
        marked = str(summary.get("rule") or default)
    return ExperimentFindings(
        findings(state.experiment.study, summary, marked, names),
        left_out(summary.get("not_studied", {}), names.tasks),
        slow_rule_texts(summary.get("slow_rules", {})),
    )


def experiment_studies() -> list[Study]:
    """The studies that can be run with your own parameters, in the catalogue's order."""
    return list(EXPERIMENTS.values())
