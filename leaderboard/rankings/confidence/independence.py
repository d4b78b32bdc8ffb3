"""What is assumed about the tasks that tests and intervals rest on, in words."""


def tasks_phrase(n_clusters: int, n_tasks: int) -> str:
    """How many tasks or clusters something rests on, and who says that these are independent.

    No test can tell that tasks are independent: it is assumed, or the owners declare which tasks belong together.

    Args:
        n_clusters: clusters of tasks, a task without one counting by itself.
        n_tasks: the tasks in these clusters; as many as there are clusters where none was declared.

    Returns:
        `27 tasks, taken as independent` or `23 clusters of tasks, as the owners declared`.
    """
    if n_clusters == n_tasks:
        return f"{n_tasks:,} task{'' if n_tasks == 1 else 's'}, taken as independent"
    return f"{n_clusters:,} cluster{'' if n_clusters == 1 else 's'} of tasks, as the owners declared"
