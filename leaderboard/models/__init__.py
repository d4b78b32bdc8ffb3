"""Everything that is stored (`docs/design.md` tells how the rows hang together)."""

from leaderboard.models.append_only import AppendOnlyPermit
from leaderboard.models.benchmarks import Benchmark, Task, TaskGroup
from leaderboard.models.jobs import Job
from leaderboard.models.people import ApiToken, Membership, User
from leaderboard.models.reports import Publication, Report
from leaderboard.models.revisions import Configuration, Revision, SystemChange
from leaderboard.models.studies import StudyChoice, StudyPartial
from leaderboard.models.submissions import Batch, Draft, Score, Submission, SubmissionEvent
from leaderboard.models.systems import System

__all__ = [
    "ApiToken",
    "AppendOnlyPermit",
    "Batch",
    "Benchmark",
    "Configuration",
    "Draft",
    "Job",
    "Membership",
    "Publication",
    "Report",
    "Revision",
    "Score",
    "StudyChoice",
    "StudyPartial",
    "Submission",
    "SubmissionEvent",
    "System",
    "SystemChange",
    "Task",
    "TaskGroup",
    "User",
]
