"""Markup as tests compare it: how templates break their lines makes no difference."""

import re
from collections import Counter

from django.http import HttpResponse

# Beside these, and within them at either end, white space is not shown.
BLOCKS = (
    "address|article|caption|colgroup|col|datalist|dd|details|div|dl|dt|fieldset|figure|footer|form|h1|h2|h3|header|legend"
    "|li|main|nav|ol|optgroup|option|p|section|select|summary|table|tbody|td|th|thead|tr|ul"
)


def compact(markup: str | HttpResponse) -> str:
    """Markup, or that of an answer, with every run of white space as one space, and none that is not shown."""
    if not isinstance(markup, str):
        markup = markup.content.decode()
    flowing = " ".join(markup.split()).replace(" >", ">")
    return re.sub(rf" ?(</?(?:{BLOCKS})\b[^>]*>) ?", r"\1", flowing)


def ids_used_twice(response: HttpResponse) -> list[str]:
    """The ids that more than one element of a page has: labels and links to them lead to the first alone."""
    if not response.get("Content-Type", "").startswith("text/html"):
        return []
    n_uses = Counter(re.findall(r'<[a-z][^<>]*? id="([^"]*)"', response.getvalue().decode()))
    return sorted(name for name, n in n_uses.items() if n > 1)
