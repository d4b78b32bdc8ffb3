"""How the votes of a benchmark are rated, for its owners."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import ChoiceText, Listing, ReasonText, Shape, Text, Truth, Whole
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example
from leaderboard.models import VoteSettings
from leaderboard.submissions.problems import SubmissionError
from leaderboard.votes.content import collects_votes
from leaderboard.votes.settings import (
    CLUSTERS,
    FIELDS,
    MAX_RESAMPLES,
    MIN_RESAMPLES,
    change_vote_settings,
    checked_covariates,
    checked_resamples,
    start_collecting,
)
from ranking_engine.votes.models import MODELS
from ranking_engine.votes.reading import MAX_COVARIATES, MAX_LABEL

VOTE_SETTINGS_EXAMPLE = body_example(
    "Ties by Davidson, errors by person",
    {"tie_model": "davidson", "cluster": "voter", "covariates": ["length"], "reason": "People have many votes each."},
)


class VoteSettingsBodySerializer(Shape):
    """How votes are rated; what is left out stays."""

    collects_votes = Truth(
        required=False,
        help_text="True has a benchmark without submissions collect votes in place of scores, for good.",
    )
    tie_model = ChoiceText(list(MODELS), required=False)
    cluster = ChoiceText(list(CLUSTERS), required=False, help_text="Votes that standard errors count as one.")
    n_resamples = Whole(
        required=False,
        help_text=f"For intervals, {MIN_RESAMPLES} to {MAX_RESAMPLES}; 0 for the sandwich formula, which is faster.",
    )
    covariates = Listing(
        child=Text(most=MAX_LABEL),
        most=MAX_COVARIATES,
        required=False,
        help_text="What else may have decided votes: `length` needs the columns `length_a` and `length_b`.",
    )
    shows_elo = Truth(required=False, help_text="Whether there are Elo ratings, which depend on the order of votes.")
    exports_voters = Truth(
        required=False, help_text="Whether downloads say, by numbers, which votes are of the same person."
    )
    reason = ReasonText(help_text="Kept with the change.")

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """What no rating can be made with; and votes are collected for good."""
        if values.get("collects_votes") is False:
            yield "collects_votes", "A benchmark cannot stop collecting votes."
        try:
            checked_resamples(values.get("n_resamples", 0))
        except ValidationError as problem:
            yield "n_resamples", " ".join(problem.messages)
        try:
            checked_covariates(values.get("covariates", []))
        except ValidationError as problem:
            yield "covariates", " ".join(problem.messages)


class VoteSettingsSerializer(Shape):
    """How the votes of a benchmark are rated."""

    tie_model = s.ChoiceField(choices=list(MODELS))
    cluster = s.ChoiceField(choices=list(CLUSTERS))
    n_resamples = s.IntegerField()
    covariates = s.ListField(child=s.CharField())
    shows_elo = s.BooleanField()
    exports_voters = s.BooleanField()
    n_changed = s.IntegerField(help_text="How many settings this call changed.")


class VoteSettingsView(OwnerView):
    """How votes are rated, for owners."""

    scopes: ClassVar = {"PATCH": MANAGE}

    @extend_schema(
        operation_id="change_vote_settings",
        summary="Change how votes are rated",
        tags=["votes"],
        parameters=[DRY_RUN],
        request=VoteSettingsBodySerializer,
        examples=[VOTE_SETTINGS_EXAMPLE],
        responses={200: VoteSettingsSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """Change what the ratings depend on: they are computed again. An empty object changes nothing.

        On a benchmark that collects scores, `collects_votes` has to be true.
        """
        values = VoteSettingsBodySerializer.read(request.data)
        reason, starts = values.pop("reason"), values.pop("collects_votes", False)
        if "covariates" in values:
            values["covariates"] = checked_covariates(values["covariates"])

        def step() -> dict[str, Any]:
            if not collects_votes(self.benchmark):
                if not starts:
                    raise SubmissionError("This benchmark collects scores; `collects_votes` changes that.")
                start_collecting(self.benchmark, author=self.user)
            n_changed = change_vote_settings(self.benchmark, values, author=self.user, reason=reason)
            chosen = VoteSettings.objects.values(*FIELDS).get(benchmark=self.benchmark)
            return VoteSettingsSerializer.render(chosen | {"n_changed": n_changed})

        return self.carry_out(step)
