"""What owners send to link systems of their benchmark to models."""

from django import forms
from django.utils.translation import gettext, gettext_lazy

from leaderboard.benchmarks.identities.links import MAX_LINKS
from leaderboard.common.form_fields import LineFormField
from leaderboard.models.benchmarks import KEY_LENGTH


class LinkForm(forms.Form):
    """One system and its model, both by key."""

    system = LineFormField(
        max_length=KEY_LENGTH,
        label=gettext_lazy("System"),
        help_text=gettext_lazy("Its key: the end of the URL of its page on this board."),
    )
    model = LineFormField(
        max_length=KEY_LENGTH, required=False, label=gettext_lazy("Model"),
        help_text=gettext_lazy("Its key, the end of the URL of its page. Empty: a new model."),
    )  # fmt: skip


def links_of(values: list[str]) -> dict[str, str]:
    """The links that ticked boxes say, `SYSTEM MODEL` each.

    Raises:
        ValidationError: too many, one says nothing, or two say different models of one system.
    """
    if len(values) > MAX_LINKS:
        raise forms.ValidationError(
            gettext("%(n_values)s boxes are selected; at most %(max_links)s can be at once.")
            % {"n_values": len(values), "max_links": MAX_LINKS}
        )
    links: dict[str, str] = {}
    for value in values:
        system, _, model = value[: 2 * KEY_LENGTH + 2].partition(" ")
        if system in links:
            raise forms.ValidationError(
                gettext("You selected two models for the system %(system)s; select one.") % {"system": system}
            )
        links[system] = model
    return links
