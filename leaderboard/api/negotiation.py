"""In which form to answer: JSON, or CSV where a table is asked for."""

from typing import Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer


class Negotiation(DefaultContentNegotiation):
    """By `?format=`, else by the Accept header; a form that there is not is a 406."""

    def filter_renderers(self, renderers: Any, format: str) -> Any:  # noqa: A002, ANN401
        """The renderers of the form that `?format=` names."""
        found = [renderer for renderer in renderers if renderer.format == format]
        if not found:
            known = ", ".join(renderer.format for renderer in renderers)
            raise NotAcceptable(f"There is no format {format[:40]!r} of this; there is {known}.")
        return found


class CSVRenderer(BaseRenderer):
    """A table that a service wrote."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:  # noqa: ANN401
        """The text as bytes."""
        return str(data).encode()
