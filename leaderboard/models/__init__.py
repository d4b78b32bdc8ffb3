"""The database tables (`docs/design.md` explains how they are related)."""

from leaderboard.models.append_only import AppendOnlyPermit
from leaderboard.models.backups import LastBackup
from leaderboard.models.benchmarks import Benchmark, Task, TaskGroup
from leaderboard.models.evaluation import (
    EvaluationMode,
    Phase,
    PredictionCount,
    PredictionFile,
    PredictionSubmission,
    TaskReferences,
    Team,
    TeamInvitation,
    TeamMembership,
)
from leaderboard.models.following import Fetch, FollowedAddress
from leaderboard.models.hosting import AuditEntry, Ban, BenchmarkDraft, CellCount, Invitation, Release, SubmissionCount
from leaderboard.models.identities import ModelIdentity
from leaderboard.models.instances import InstanceScores, InstanceSet
from leaderboard.models.jobs import Job, JobCount, Turn
from leaderboard.models.lookups import Among, HasItem
from leaderboard.models.meta_boards import MetaBoard
from leaderboard.models.notices import Notice, NoticeChoice, NoticeDigest, NoticeKind, OutboxMessage
from leaderboard.models.operations import Heartbeat, RetentionState
from leaderboard.models.organisations import (
    Organisation,
    OrganisationChange,
    OrganisationInvitation,
    OrganisationMember,
)
from leaderboard.models.people import ApiToken, AttemptCount, Membership, User, Visit
from leaderboard.models.reports import ListedBoard, Publication, Report
from leaderboard.models.revisions import Configuration, Revision, SystemChange
from leaderboard.models.studies import Experiment, StudyChoice, StudyPartial
from leaderboard.models.submissions import Batch, Draft, ImportChoices, Score, Submission, SubmissionEvent
from leaderboard.models.systems import Baseline, System
from leaderboard.models.votes import VoteBatch, VoteEvent, VoteReport, VoteSettings
from leaderboard.models.webhooks import Webhook, WebhookDelivery
from leaderboard.models.weights import WeightProfile

__all__ = [
    "Among",
    "ApiToken",
    "AppendOnlyPermit",
    "AttemptCount",
    "AuditEntry",
    "Ban",
    "Baseline",
    "Batch",
    "Benchmark",
    "BenchmarkDraft",
    "CellCount",
    "Configuration",
    "Draft",
    "EvaluationMode",
    "Experiment",
    "Fetch",
    "FollowedAddress",
    "HasItem",
    "Heartbeat",
    "ImportChoices",
    "InstanceScores",
    "InstanceSet",
    "Invitation",
    "Job",
    "JobCount",
    "LastBackup",
    "ListedBoard",
    "Membership",
    "MetaBoard",
    "ModelIdentity",
    "Notice",
    "NoticeChoice",
    "NoticeDigest",
    "NoticeKind",
    "Organisation",
    "OrganisationChange",
    "OrganisationInvitation",
    "OrganisationMember",
    "OutboxMessage",
    "Phase",
    "PredictionCount",
    "PredictionFile",
    "PredictionSubmission",
    "Publication",
    "Release",
    "Report",
    "RetentionState",
    "Revision",
    "Score",
    "StudyChoice",
    "StudyPartial",
    "Submission",
    "SubmissionCount",
    "SubmissionEvent",
    "System",
    "SystemChange",
    "Task",
    "TaskGroup",
    "TaskReferences",
    "Team",
    "TeamInvitation",
    "TeamMembership",
    "Turn",
    "User",
    "Visit",
    "VoteBatch",
    "VoteEvent",
    "VoteReport",
    "VoteSettings",
    "Webhook",
    "WebhookDelivery",
    "WeightProfile",
]
