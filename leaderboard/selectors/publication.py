"""What is published: the revision that readers see, its reports, and the work still to come."""

from leaderboard.models import Benchmark, Job, Publication, Report, Revision


def published_revision(benchmark: Benchmark) -> Revision | None:
    """The revision whose rankings readers see; a page asks once and shows nothing of any other."""
    publication = benchmark.publication
    return publication.revision if publication else None


def reports_of(publication: Publication, kind: str) -> list[Report]:
    """The publication's reports of one kind."""
    return list(
        Report.objects.filter(
            revision_id=publication.revision_id, engine_version=publication.engine_version, kind=kind
        ).order_by("pk")
    )


def job_of(revision_id: int, kind: str) -> Job | None:
    """The newest job row of one kind for a revision."""
    return (
        Job.objects.filter(subject_kind="revision", subject_id=revision_id, kind=kind).order_by("-pk").first()
    )
