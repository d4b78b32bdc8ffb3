"""The API's description, for programs and for people."""

from collections.abc import Hashable
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import parse_etags
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import REVALIDATE, ApiView
from leaderboard.api.protocol.examples import SiteSchema, path_examples, site_url
from leaderboard.api.protocol.exchange import Exchange
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.parameters import EVERYWHERE
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.schema import reading
from leaderboard.common.hashing import content_hash

# The schema and its file's name, as this process wrote them, by media type and what else they depend on: it says the
# same to everybody, and writing it takes a second.
_written: dict[tuple[Hashable, ...], tuple[bytes, str]] = {}
MOST_WRITTEN = 8


@extend_schema(exclude=True)
class Schema(Exchange, SpectacularAPIView):
    """The OpenAPI schema."""

    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    generator_class = SiteSchema

    def known_parameters(self, handler: Any) -> frozenset[str]:  # noqa: ANN401
        """In which form."""
        return EVERYWHERE

    def get(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:  # noqa: ANN401
        """The schema as YAML, or JSON where that is asked for; a 304 to anyone who has it already."""
        renderer = request.accepted_renderer
        depends = (renderer.media_type, site_url(request), *path_examples().items())
        if depends not in _written:
            schema: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
            if len(_written) >= MOST_WRITTEN:
                _written.clear()
            _written[depends] = renderer.render(schema.data), schema["Content-Disposition"]
        body, disposition = _written[depends]
        etag = f'"{content_hash([renderer.media_type, body.decode()])[:32]}"'
        known = parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))
        response: HttpResponse = HttpResponseNotModified()
        if not {etag, f"W/{etag}", "*"} & set(known):
            charset = f"; charset={renderer.charset}" if renderer.charset else ""
            response = HttpResponse(body, content_type=f"{renderer.media_type}{charset}")
            response["Content-Disposition"] = disposition
        response["ETag"] = etag
        response["Cache-Control"] = f"public, {REVALIDATE}"
        response["Vary"] = "Accept"
        return response


# Swagger UI draws its icons from data: addresses; nothing else of it needs more than the site allows.
@method_decorator(csp_update({"img-src": ["data:"]}), name="dispatch")
@extend_schema(exclude=True)
class Docs(Exchange, SpectacularSwaggerSplitView):
    """The schema as a page to read and try; its script comes from the same address with `?script`."""

    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    is_for_other_sites = False  # it says who has signed in
    template_name = "api/docs.html"
    template_name_js = "api/docs.js"
    url_name = "api:schema"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Remember who has signed in to the site, before the framework makes everyone anonymous."""
        super().setup(request, *args, **kwargs)
        self.reader = request.user

    def known_parameters(self, handler: Any) -> frozenset[str]:  # noqa: ANN401
        """Whether its script is asked for."""
        return EVERYWHERE | {"script"}

    def get(self, request: Any, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401
        """The page, or its script."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response.data["user"] = self.reader  # for the site's own navigation
        response.data["first_url"] = request.build_absolute_uri(reverse("api:benchmarks"))
        return response


class Versions(ApiView):
    """The versions of the API."""

    schema = None
    authentication_classes = []
    permission_classes = []

    def get(self, request: Request) -> HttpResponseBase:
        """Where each version begins."""
        links = {"v1": reverse("api:root"), "docs": reverse("api:docs")}
        return self.answer(
            lambda: {name: request.build_absolute_uri(path) for name, path in links.items()}, is_public=True
        )


class RootSerializer(Shape):
    """Where everything else begins."""

    benchmarks = s.URLField()
    rules = s.URLField()
    landscape = s.URLField()
    experiments = s.URLField(help_text="The studies that you can run with your own parameters.")
    me = s.URLField(help_text="Who the token belongs to, what it may do and how often.")
    schema = s.URLField(help_text="The description of the API for programs.")
    docs = s.URLField(help_text="The routes as a page to read and try.")


class Root(ApiView):
    """The beginning of a version."""

    @extend_schema(operation_id="root", summary="Begin here", tags=["benchmarks"], responses=reading(RootSerializer))
    def get(self, request: Request) -> HttpResponseBase:
        """Links to what is listed, to yourself, and to the description of all routes."""
        names = {name: name for name in RootSerializer().fields} | {"experiments": "experiment_studies"}
        links = {field: request.build_absolute_uri(reverse(f"api:{name}")) for field, name in names.items()}
        return self.answer(lambda: RootSerializer.render(links), is_public=True)


class Nothing(ApiView):
    """Whatever else is asked for under /api/."""

    schema = None
    authentication_classes = []
    permission_classes = []

    def perform_content_negotiation(self, request: Any, force: bool = False) -> Any:  # noqa: ANN401
        """Whatever form is asked for, there is nothing."""
        return super().perform_content_negotiation(request, force=True)

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Answer before anything else is looked at."""
        super().initial(request, *args, **kwargs)
        hint = "" if request.path.endswith("/") else " Routes end with a slash."
        raise ApiError(404, f"There is no route {request.path[:200]}.{hint} /api/docs/ lists all routes.")
