"""A site below a path of its host, whether the proxy in front takes the path away or passes it on."""

from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def without_prefix(application: Application) -> Application:
    """The application, asked without `PLURANK_PREFIX`: Django writes it before every address that it makes.

    Args:
        application: a WSGI application.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:  # noqa: ANN401 -- of WSGI
        prefix, path = settings.FORCE_SCRIPT_NAME or "", environ.get("PATH_INFO", "")
        if prefix and (path == prefix or path.startswith(f"{prefix}/")):
            environ["PATH_INFO"] = path.removeprefix(prefix) or "/"
        return application(environ, start_response)

    return answer
