"""`floatformat` with a point in every language; a library that all templates have."""

from django import template
from django.template.defaultfilters import floatformat as localised

register = template.Library()


@register.filter(is_safe=True)
def floatformat(number: object, digits: object = -1) -> str:
    """A number with so many digits behind the point.

    Args:
        number: or a text that is one; empty where it is none.
        digits: as Django's filter takes them.
    """
    return localised(number, f"{digits}u")
