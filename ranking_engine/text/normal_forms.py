"""Unicode normal forms of texts from users: the only place that computes them, so that their cost is bounded.

Putting combining marks into their order takes time that grows with the square of their number, in one call that nothing
interrupts: minutes for a few hundred kilobytes.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

LONGEST_TEXT = 4000  # characters; no name in any form is longer
MAX_IN_ORDER = 30  # marks one after another, as in Unicode's Stream-Safe Text Format (UAX 15, section 13)
_TOO_MANY = re.compile(rb"[^\0]{%d}" % (MAX_IN_ORDER + 1))  # in the combining classes of a text: 0 is that of a letter


def normal_form(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFC") -> str:
    """Return `text` in a normal form; unchanged where it is too long for a name or has too many marks in a row.

    Args:
        text: of anyone; `names.name_problem` refuses as a name what is left unchanged.
        form: which, as `unicodedata.normalize` calls it.
    """
    if text.isascii() or len(text) > LONGEST_TEXT:
        return text
    if any(map(unicodedata.combining, set(text))) and _TOO_MANY.search(bytes(map(unicodedata.combining, text))):
        return text
    return unicodedata.normalize(form, text)
