"""In which form to answer: JSON, or a file where a table is asked for."""

from typing import Any

from django.http.request import MediaType
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer

from leaderboard.api.protocol.problem_json import MEDIA_TYPE


class Negotiation(DefaultContentNegotiation):
    """By `?format=`, else by the Accept header; a form that there is not is a 406."""

    def get_accept_list(self, request: Any) -> list[str]:  # noqa: ANN401
        """What is accepted; asking for problem details says nothing of what is asked for otherwise."""
        kinds: list[str] = super().get_accept_list(request)
        return [kind for kind in kinds if kind.partition(";")[0].strip().lower() != MEDIA_TYPE] or ["*/*"]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:  # noqa: ANN401
        """The form that is wanted most, by the `q` of the narrowest range that names it; then the first."""
        if request.query_params.get("format"):
            return super().select_renderer(request, renderers, format_suffix)
        ranges = [MediaType(kind) for kind in self.get_accept_list(request)]
        qualities = {}
        for renderer in renderers:
            fitting = [one for one in ranges if one.match(renderer.media_type)]
            if fitting:
                qualities[renderer] = max(fitting, key=lambda one: one.specificity).quality
        if not qualities:
            return super().select_renderer(request, renderers, format_suffix)
        most = max(qualities.values())
        wanted = [renderer for renderer, quality in qualities.items() if quality == most > 0]
        return super().select_renderer(request, wanted, format_suffix)

    def filter_renderers(self, renderers: Any, format: str) -> Any:  # noqa: A002, ANN401
        """The renderers of the form that `?format=` names."""
        chosen = [renderer for renderer in renderers if renderer.format == format]
        if not chosen:
            known = ", ".join(renderer.format for renderer in renderers)
            raise NotAcceptable(f"There is no format {format[:40]!r} of this; there is {known}.")
        return chosen


class TextRenderer(BaseRenderer):
    """A text that a service wrote."""

    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:  # noqa: ANN401
        """The text as bytes; nothing for a 304."""
        return b"" if data is None else str(data).encode()


class CSVRenderer(TextRenderer):
    """A table for programs."""

    media_type = "text/csv"
    format = "csv"


class LaTeXRenderer(TextRenderer):
    """A table for papers, with the package booktabs."""

    media_type = "application/x-tex"
    format = "tex"


class MarkdownRenderer(TextRenderer):
    """A table for notes, as GitHub reads it."""

    media_type = "text/markdown"
    format = "md"


class PreflibRenderer(TextRenderer):
    """Orders, as PrefLib keeps them."""

    media_type = "text/x-preflib"
    format = "preflib"


class ZipRenderer(BaseRenderer):
    """Files in one."""

    media_type = "application/zip"
    format = "zip"
    charset = None
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:  # noqa: ANN401
        """The bytes that a service packed; nothing for a 304."""
        return b"" if data is None else bytes(data)


class EveryEvalEverRenderer(ZipRenderer):
    """Scores as records of Every Eval Ever, a file per system."""

    format = "eee"


TABLES = [JSONRenderer, CSVRenderer, LaTeXRenderer, MarkdownRenderer]
