"""What somebody gets at an address, to be compared with what they get where there is nothing."""

import re

from tests.leaderboard.site.world import World


def answers_to(world: World, kind: str, path: str) -> tuple[int, bytes, dict[str, str]]:
    response = world.client(kind).get(path)
    # An id is of one request, and the way back after signing in is the address that was asked for.
    headers = {
        name: value for name, value in response.headers.items() if name not in ("X-Request-ID", "Content-Length")
    }
    return response.status_code, re.sub(rb"\?next=[^\"]*", b"", response.content), headers
