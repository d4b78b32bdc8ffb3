"""A page that writes a variable which no view gives fails its test; Django writes nothing in its place.

A hidden field of a form was empty so, and the form could not be sent. `default`, `default_if_none` and `yesno` say that
a variable may be missing, and so do `if` and `firstof`.
"""

import sys
from typing import Any

from django.conf import settings
from django.template import engines
from django.template.base import FilterExpression

MAY_BE_MISSING = {"default", "default_if_none", "yesno"}


class Undefined(str):
    """What Django takes for a variable that is not there, and asks whether it is empty."""

    __slots__ = ()

    def __bool__(self) -> bool:
        frame = sys._getframe(1)
        if frame.f_code is not FilterExpression.resolve.__code__:
            return False  # a filter or a tag that looks at it
        expression, context = frame.f_locals["self"], frame.f_locals["context"]
        template: Any = context.template or context.render_context.template
        is_ours = template is not None and str(template.origin.name).startswith(str(settings.ROOT / "templates"))
        if is_ours and not MAY_BE_MISSING & {filter_.__name__ for filter_, _ in expression.filters}:
            raise AssertionError(f"{template.origin.template_name} writes {expression.token}, which no view gives")
        return False


def refuse_undefined_variables() -> None:
    """For all templates of this process."""
    engines["django"].engine.string_if_invalid = Undefined()
