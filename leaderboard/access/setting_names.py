"""What pages call the settings of a benchmark: forms that change them, and the trail that says how they changed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

SETTING_NAMES: Mapping[str, "StrPromise"] = {
    "name": gettext_lazy("Name"),
    "description": gettext_lazy("Description"),
    "visibility": gettext_lazy("Who can read it"),
    "submission_policy": gettext_lazy("Who can submit"),
    "daily_cap": gettext_lazy("Max. systems per user per day"),
    "total_cap": gettext_lazy("Max. systems per user in total"),
    "deadline": gettext_lazy("Submissions until"),
    "embargo_until": gettext_lazy("Embargo until"),
    "decision_days": gettext_lazy("Review period (days)"),
    "rejects_overdue": gettext_lazy("Reject overdue submissions"),
    "submitters_withdraw": gettext_lazy("Submitters withdraw their accepted scores themselves"),
    "shows_submitters": gettext_lazy("Readers see how many systems each submitter entered"),
    "score_view": gettext_lazy("What readers see"),
    "anonymous_until": gettext_lazy("Hide system names until"),
    "default_rule": gettext_lazy("Default rule"),
    "source_url": gettext_lazy("URL"),
    "licence": gettext_lazy("Licence"),
    "citation": gettext_lazy("How to cite it"),
    "doi": gettext_lazy("DOI"),
    "tags": gettext_lazy("Tags"),
    "missing_policy": gettext_lazy("Missing scores"),
    "aggregation": gettext_lazy("How tasks and groups count"),
    "gamma": gettext_lazy("Optimality threshold γ"),
    "replacement": gettext_lazy("When a system is submitted again"),
    "variants": gettext_lazy("Variants of rules"),
    "votes: tie_model": gettext_lazy("Ties"),
    "votes: cluster": gettext_lazy("Standard errors count"),
    "votes: covariates": gettext_lazy("Covariates"),
    "votes: n_resamples": gettext_lazy("Resamples for intervals"),
    "votes: shows_elo": gettext_lazy("Show Elo ratings too"),
    "votes: exports_voters": gettext_lazy("Downloads say which votes are of the same person"),
    "ladder": gettext_lazy("The Ladder"),
}
