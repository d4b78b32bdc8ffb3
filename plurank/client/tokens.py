"""Tokens of sites: from the environment, or from a file that only its owner may read.

The file is `~/.config/plurank/tokens.toml` (`PLURANK_TOKENS` names another), one line a site:

    "https://boards.example" = "plurank_..."
"""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

VARIABLE = "PLURANK_TOKEN"
FILE_VARIABLE = "PLURANK_TOKENS"
MAX_BYTES = 100_000


def token_for(url: str) -> str:
    """Return the token for a site; empty where there is none.

    Raises:
        PermissionError: others may read the file of tokens.
        ValueError: the file is broken; the message never holds a token.
    """
    if token := os.environ.get(VARIABLE, "").strip():
        return token
    folder = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    path = Path(os.environ.get(FILE_VARIABLE) or f"{folder}/plurank/tokens.toml").expanduser()
    if not path.is_file():
        return ""
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PermissionError(f"others may read {path}, which holds tokens: chmod 600 {path}")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} has more than {MAX_BYTES:,} bytes; it holds one line a site")
    try:
        tokens = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        expected = '"https://boards.example" = "plurank_..."'
        raise ValueError(f"{path} cannot be read: expected lines such as {expected}") from None
    by_site = {site.rstrip("/"): token for site, token in tokens.items() if isinstance(token, str)}
    return by_site.get(url.rstrip("/"), "")
