"""The API's description, for programs and for people."""

from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import parse_etags
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.response import Response

from leaderboard.api.protocol.access import AddressThrottle
from leaderboard.api.protocol.base import REVALIDATE, ApiView
from leaderboard.api.protocol.problems import ApiError
from leaderboard.common.hashing import content_hash


@extend_schema(exclude=True)
class Schema(SpectacularAPIView):
    """The OpenAPI schema."""

    authentication_classes = []
    permission_classes = []
    throttle_classes = [AddressThrottle]

    def get(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:  # noqa: ANN401
        """The schema as YAML, or JSON where that is asked for; a 304 to anyone who has it already."""
        schema: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        etag = f'"{content_hash([request.accepted_media_type, schema.data])[:32]}"'
        known = parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))
        response: HttpResponseBase = HttpResponseNotModified() if {etag, f"W/{etag}", "*"} & set(known) else schema
        response["ETag"] = etag
        response["Cache-Control"] = f"public, {REVALIDATE}"
        response["Vary"] = "Accept"
        return response


# Swagger UI draws its icons from data: addresses; nothing else of it needs more than the site allows.
@method_decorator(csp_update({"img-src": ["data:"]}), name="dispatch")
@extend_schema(exclude=True)
class Docs(SpectacularSwaggerSplitView):
    """The schema as a page to read and try; its script comes from the same address with `?script`."""

    authentication_classes = []
    permission_classes = []
    throttle_classes = [AddressThrottle]
    template_name = "api/docs.html"
    template_name_js = "api/docs.js"
    url_name = "api:schema"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Remember who has signed in to the site, before the framework makes everyone anonymous."""
        super().setup(request, *args, **kwargs)
        self.reader = request.user

    def get(self, request: Any, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401
        """The page, or its script."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response.data["user"] = self.reader  # for the site's own navigation
        response.data["first_url"] = request.build_absolute_uri(reverse("api:benchmarks"))
        return response


class Nothing(ApiView):
    """Whatever else is asked for under /api/."""

    schema = None
    authentication_classes = []
    permission_classes = []

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Answer before anything else is looked at."""
        super().initial(request, *args, **kwargs)
        hint = "" if request.path.endswith("/") else " Routes end with a slash."
        raise ApiError(404, f"There is no route {request.path[:200]}.{hint} /api/docs/ lists all routes.")
