"""What owners send to link systems of their benchmark to models."""

from django import forms

from leaderboard.benchmarks.identities.links import MAX_LINKS
from leaderboard.common.form_fields import LineFormField
from leaderboard.models.benchmarks import KEY_LENGTH


class LinkForm(forms.Form):
    """One system and its model, both by key."""

    system = LineFormField(max_length=KEY_LENGTH, label="System", help_text="Its key on this board.")
    model = LineFormField(
        max_length=KEY_LENGTH, required=False, label="Model",
        help_text="Its key, the end of the address of its page. Empty: a new model.",
    )  # fmt: skip


def links_of(values: list[str]) -> dict[str, str]:
    """The links that ticked boxes say, `SYSTEM MODEL` each.

    Raises:
        ValidationError: too many, one says nothing, or two say different models of one system.
    """
    if len(values) > MAX_LINKS:
        raise forms.ValidationError(f"{len(values)} boxes are selected; at most {MAX_LINKS} can be at once.")
    links: dict[str, str] = {}
    for value in values:
        system, _, model = value[: 2 * KEY_LENGTH + 2].partition(" ")
        if system in links:
            raise forms.ValidationError(f"You ticked two models for the system {system}; tick one.")
        links[system] = model
    return links
