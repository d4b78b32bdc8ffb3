"""What is assumed about the tasks that tests and intervals rest on, in words."""

from django.utils.translation import ngettext

from leaderboard.common.language.numbers import localise


def tasks_phrase(n_clusters: int, n_tasks: int) -> str:
    """How many tasks or clusters something rests on, and who says that these are independent.

    No test can tell that tasks are independent: it is assumed, or the owners declare which tasks belong together. Where
    they declare no cluster of a task, its group is its cluster.

    Args:
        n_clusters: clusters of tasks, a task without one counting by itself.
        n_tasks: the tasks in these clusters; as many as there are clusters where none was declared.

    Returns:
        `27 tasks, taken as independent` or `23 clusters of tasks, by group or as the owners declared`.
    """
    if n_clusters == n_tasks:
        tasks = ngettext("%(n)s task, taken as independent", "%(n)s tasks, taken as independent", n_tasks)
        return tasks % {"n": localise(n_tasks, ",")}
    clusters = ngettext(
        "%(n)s cluster of tasks, by group or as the owners declared",
        "%(n)s clusters of tasks, by group or as the owners declared",
        n_clusters,
    )
    return clusters % {"n": localise(n_clusters, ",")}
