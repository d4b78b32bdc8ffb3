"""What the what-if page says of its figures: its script says the same while sliders move."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TEXTS: Mapping[str, "StrPromise"] = {
    "no_winner": gettext_lazy("no winner"),
    "undefined": gettext_lazy("no ranking"),
    "failed": gettext_lazy("failed"),
    "computing": gettext_lazy("computing"),
    # The script has no plural forms: what it says of a number is one text for any number.
    "jointly": gettext_lazy("%(n)s systems jointly"),
    "systems": gettext_lazy("%(n)s systems"),
    "as_own": gettext_lazy("First under %(chip)s: %(winners_text)s, as with the benchmark’s weights."),
    "not_the_same": gettext_lazy(
        "First under %(chip)s: %(winners_text)s, not the same as with the benchmark’s weights."
    ),
    "changed": gettext_lazy("First under %(chip)s: %(winners_text)s. With the benchmark’s weights: %(own_text)s."),
    "condorcet_winner": gettext_lazy("Condorcet winner: %(winner)s."),
    "smith_set": gettext_lazy("No Condorcet winner; the Smith set is %(names)s."),
    "no_condorcet_winner": gettext_lazy("No Condorcet winner."),
    "apart": gettext_lazy("Pairs of systems that share no task that counts, so that neither beats the other: %(n)s."),
    "dissent": gettext_lazy("The winner changes under %(n)s of %(sum)s rules."),
}


class _Places(dict[str, str]):
    """Each value is the place that a template for scripts has for it: `{n}`."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def texts_for_script() -> str:
    """The texts in the language of the page as JSON, with places such as `{n}`."""
    return json.dumps({name: str(text) % _Places() for name, text in TEXTS.items()}, ensure_ascii=False)
