"""What priorities mean, from those of a new board down to those of work that no one waits for.

| jobs | priorities |
|---|---|
| what comes with a board: slow rules, prospects, intervals, the plan of its studies | `PARTS` and more |
| chunks of studies, what puts them together, properties | 1 down to -1 - `LARGEST` |
| what follows an upgrade | `RECOMPUTATION` lower than the same otherwise |
| studies that run while nothing else waits, after a submission | below `IDLE` |
| the same of boards that no one has submitted to since they were made, and their properties | below `2 * IDLE` |
"""

PARTS = 2
LARGEST = 2_900  # seconds of a study, beyond which a larger one goes no later
NOBODY_WAITS = -6_000  # for jobs of a priority below this
RECOMPUTATION = -7_000  # added to a job's priority
IDLE = -10_000  # jobs of a lower priority run only while no ranking waits
