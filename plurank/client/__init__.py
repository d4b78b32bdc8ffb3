"""A site from Python: read its boards, submit scores, import files; needs the extra `client` of plurank."""

from plurank.client.errors import (
    InvalidInputError,
    NotAllowedError,
    NotThereError,
    SiteError,
    TooManyError,
    UnreachableError,
)
from plurank.client.predictions import (
    CannotEvaluateError,
    EvaluatorReport,
    PredictionsToEvaluate,
    RemotePredictions,
)
from plurank.client.site import RemoteBenchmark, Site
from plurank.client.submissions import RemoteSubmission

__all__ = [
    "CannotEvaluateError",
    "EvaluatorReport",
    "InvalidInputError",
    "NotAllowedError",
    "NotThereError",
    "PredictionsToEvaluate",
    "RemoteBenchmark",
    "RemotePredictions",
    "RemoteSubmission",
    "Site",
    "SiteError",
    "TooManyError",
    "UnreachableError",
]
