"""Starting an experiment: its parameters checked, its cost forecast, and the limits held before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.locks import user_lock
from leaderboard.computing.experiments import Forecast, forecast
from leaderboard.models import Benchmark, Experiment, Job, Publication, Report
from leaderboard.on_demand.budget import TookTooLongError, compute
from leaderboard.queue.kinds import EXPERIMENT, JOB_KINDS
from leaderboard.queue.retry import retry_job
from leaderboard.queue.rows import about_revision, insert, row_of
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.studies.chunks import study_matrix
from ranking_engine import __version__ as engine_version
from ranking_engine.stability.catalogue import checked_parameters

OPEN = (Job.State.WAITING, Job.State.RUNNING)
DAY = timedelta(days=1)
LARGEST_SEED = 2**31 - 1


class ExperimentError(ValueError):
    """An experiment that cannot be: wrong parameters, or scores about which it says nothing."""


class ExperimentLimitError(ExperimentError):
    """An experiment for which there is no time left, or that would take too long."""


@dataclass(frozen=True)
class Proposal:
    """An experiment before it is stored.

    Attributes:
        publication: of which revision.
        parameters: all of them, the study and the seed among them.
        seconds: what it should take on one core; 0 where the same was run before.
        present: the same experiment, where it was started before.
    """

    publication: Publication
    parameters: dict[str, Any]
    seconds: float
    present: Experiment | None

    @property
    def study(self) -> str:
        """The key of its study."""
        return str(self.parameters["study"])


def propose(audience: Audience, study: str, given: Mapping[str, Any], *, seed: int = 0) -> Proposal:
    """Check an experiment on what a benchmark has published, and forecast what it takes.

    Args:
        audience: of someone who has signed in and may see every score.
        study: a key of the engine's EXPERIMENTS.
        given: parameters that differ from the defaults.
        seed: of the random numbers.

    Raises:
        ExperimentError: nothing is published, a parameter is wrong, or the study says nothing about these scores.
        ExperimentLimitError: it would take too long, or too much was started already.
        BusyError, TooOftenError: as `on_demand.compute`.
    """
    publication = audience.benchmark.publication
    if publication is None:
        raise ExperimentError(gettext("You can run experiments after the first board is published."))
    if not 0 <= seed <= LARGEST_SEED:
        raise ExperimentError(
            gettext("`seed` is %(seed)s; expected a whole number from 0 to %(most)s.")
            % {"seed": str(seed)[:40], "most": localise(LARGEST_SEED, ",")}
        )
    try:
        own = checked_parameters(study, given)
    except ValueError as error:
        raise ExperimentError(f"{in_page_language(str(error))}.") from error
    parameters = {"study": study, "seed": seed, **own}
    present = _same(publication, parameters)
    if present is not None:
        return Proposal(publication, parameters, 0.0, present)
    _require_time_left(audience, 0.0)
    if revision_matrix(publication.revision) is None:
        raise ExperimentError(gettext("You cannot run experiments: the board has no scores."))
    try:
        known: Forecast = compute(forecast, study_matrix(publication.revision), study, own)
    except TookTooLongError as error:
        raise ExperimentLimitError(
            gettext(
                "This board is so large that even the estimate took too long. Choose fewer rules, repeats or systems. "
                "The command line, python -m ranking_engine stability, has no limit."
            )
        ) from error
    if known.reason:
        raise ExperimentError(
            gettext("This study cannot run on this board: %(reason)s.") % {"reason": in_page_language(known.reason)}
        )
    limit = settings.EXPERIMENT_SECONDS
    if known.seconds > limit:
        raise ExperimentLimitError(
            gettext(
                "This would take about %(seconds)s s; one experiment may take up to %(limit)s s. Choose fewer rules, "
                "repeats or systems. The command line, python -m ranking_engine stability, has no limit."
            )
            % {"seconds": localise(known.seconds, ",.0f"), "limit": localise(limit, ",")}
        )
    return Proposal(publication, parameters, known.seconds, None)


def start(audience: Audience, proposal: Proposal) -> tuple[Experiment, bool]:
    """Store an experiment with its job, once; the same one again is the one that was stored.

    Returns:
        The experiment, and whether it is new.

    Raises:
        ExperimentLimitError: too much was started meanwhile.
    """
    with user_lock(audience.user):
        # Who adds one to a board waits for anyone who is doing so.
        Benchmark.objects.filter(pk=audience.benchmark.pk).update(last_revision_number=F("last_revision_number"))
        present = _same(proposal.publication, proposal.parameters)
        if present is not None:
            has_report = Report.objects.filter(
                revision_id=present.revision_id,
                kind=EXPERIMENT,
                parameter_hash=present.parameter_hash,
                engine_version=present.engine_version,
            ).exists()
            if not has_report:  # its result was removed, and is computed again; one that failed stays failed
                job = insert(row_of(JOB_KINDS[EXPERIMENT], about_revision(present.revision), present.parameters))
                ended = Job.objects.filter(pk=job.pk, state__in=[Job.State.DONE, Job.State.SUPERSEDED])
                if ended.update(state=Job.State.WAITING, finished_at=None):
                    retry_job(job)
            return present, False
        _require_time_left(audience, proposal.seconds)
        subject = about_revision(proposal.publication.revision)
        job = insert(row_of(JOB_KINDS[EXPERIMENT], subject, proposal.parameters))
        return (
            Experiment.objects.create(
                benchmark=audience.benchmark,
                revision=proposal.publication.revision,
                study=proposal.study,
                parameters=proposal.parameters,
                parameter_hash=job.parameter_hash,
                engine_version=engine_version,
                estimate=proposal.seconds,
                requested_by=audience.user,
            ),
            True,
        )


def _same(publication: Publication, parameters: dict[str, Any]) -> Experiment | None:
    return Experiment.objects.filter(
        revision_id=publication.revision_id,
        parameter_hash=content_hash(parameters),
        engine_version=engine_version,
    ).first()


def _require_time_left(audience: Audience, seconds: float) -> None:
    """Refuse what would exceed what one person, or one board, may have computed within a day.

    Raises:
        ExperimentLimitError: it would, or too many of their own are open.
    """
    since = timezone.now() - DAY
    own = Experiment.objects.filter(requested_by=audience.user)
    most = settings.EXPERIMENTS_OPEN
    recent = list(own.filter(requested_at__gt=since).values_list("parameter_hash", "revision_id"))
    jobs = Job.objects.filter(kind=EXPERIMENT, state__in=OPEN, parameter_hash__in={key for key, _ in recent})
    n_open = jobs.filter(subject_id__in={revision for _, revision in recent}).count()
    if n_open >= most:
        raise ExperimentLimitError(
            gettext("You have %(n_open)s unfinished experiments; the limit is %(most)s. Wait until one is done.")
            % {"n_open": n_open, "most": most}
        )
    on_board = Experiment.objects.filter(benchmark=audience.benchmark)
    of_person = gettext("You used %(used)s s for experiments within a day; the limit is %(limit)s s. Try again later.")
    of_board = gettext(
        "This board used %(used)s s for experiments within a day; the limit is %(limit)s s. Try again later."
    )
    if seconds:
        of_person = gettext(
            "You used %(used)s s for experiments within a day; the limit is %(limit)s s, and this would take about "
            "%(seconds)s s. Try again later."
        )
        of_board = gettext(
            "This board used %(used)s s for experiments within a day; the limit is %(limit)s s, and this would take "
            "about %(seconds)s s. Try again later."
        )
    limits = (
        (of_person, own, settings.EXPERIMENT_SECONDS_A_PERSON),
        (of_board, on_board, settings.EXPERIMENT_SECONDS_A_BOARD),
    )
    for text, rows, limit in limits:
        used = float(rows.filter(requested_at__gt=since).aggregate(sum=Sum("estimate"))["sum"] or 0.0)
        if used >= limit or used + seconds > limit:
            figures = {"used": used, "limit": limit, "seconds": seconds}
            raise ExperimentLimitError(text % {name: localise(value, ",.0f") for name, value in figures.items()})
