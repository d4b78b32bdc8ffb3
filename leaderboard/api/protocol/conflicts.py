"""The errors of steps that cannot be taken now: the API answers 409, with their message."""

from leaderboard.accounts.closing import ClosingError
from leaderboard.accounts.organisations.founding import OrganisationError
from leaderboard.accounts.people import PeopleError
from leaderboard.benchmarks.releases import ReleaseError
from leaderboard.benchmarks.tasks import StaleProposalError
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.notifications.webhooks import WebhookError
from leaderboard.submissions.problems import SubmissionError

CONFLICTS = (
    StaleProposalError, ReleaseError, PeopleError, SubmissionError, ClosingError, WebhookError, EvaluationError,
    OrganisationError,
)  # fmt: skip
