"""Suggesting clusters: tasks whose scores depend on each other."""

from dataclasses import replace

from django.utils.translation import gettext

from leaderboard.benchmarks.tasks import (
    StaleProposalError,
    apply_proposal,
    present_proposal,
    proposal_token,
)
from leaderboard.models import Benchmark, Revision, User
from leaderboard.rankings.confidence.dependence import ClusterSuggestion, published_dependence
from ranking_engine.text.names import fold_name


def cluster_suggestions(benchmark: Benchmark) -> list[ClusterSuggestion]:
    """The clusters that the published scores suggest, without those that were declared since.

    Args:
        benchmark: with its publication.
    """
    dependence = published_dependence(benchmark.publication)
    if dependence is None:
        return []
    clusters = {task.key: task.cluster for task in benchmark.tasks.filter(is_archived=False)}
    return [
        suggestion
        for suggestion in dependence.suggestions
        if len(declared := {clusters.get(key) for key in suggestion.task_keys}) > 1 or not declared - {"", None}
    ]


def declare_suggested(benchmark: Benchmark, number: int, *, revision_number: int, author: User) -> Revision | None:
    """Declare the tasks of one suggestion as a cluster.

    Args:
        benchmark: with its publication.
        number: of the suggestion.
        revision_number: of the published revision that the suggestion was read on.
        author: who declares it.

    Returns:
        The revision that comes of it; None where nothing depends on it yet.

    Raises:
        StaleProposalError: another revision is published now, or there is no such suggestion any more.
    """
    suggestion = next((one for one in cluster_suggestions(benchmark) if one.number == number), None)
    if suggestion is None or benchmark.published_number != revision_number:
        raise StaleProposalError(gettext("The suggestions have changed since you opened this page."))
    proposal = present_proposal(benchmark)
    keys = set(suggestion.task_keys)
    others = {fold_name(edit.cluster) for edit in proposal.tasks if edit.key not in keys}
    others |= {fold_name(group.name) for group in proposal.groups}
    name, n = suggestion.cluster, 2
    while fold_name(name) in others:
        name, n = f"{suggestion.cluster} {n}", n + 1
    tasks = [replace(edit, cluster=name) if edit.key in keys else edit for edit in proposal.tasks]
    proposal = replace(proposal, tasks=tasks)
    return apply_proposal(
        benchmark,
        proposal,
        author=author,
        token=proposal_token(benchmark, proposal),
        reason=f"Declared as one cluster: average correlation {suggestion.correlation}.",
    )
