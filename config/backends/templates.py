"""Django's templates, which write a number as Python does unless a filter says that it is for people.

Charts, inputs and styles are made of numbers. In a language that writes 0,5 a comma would break them. What people
read comes from `leaderboard/common/language/numbers.py` or from `floatformat` and `intcomma`, which follow the
language of the page.
"""

from typing import Any

from django.http import HttpRequest
from django.template import TemplateDoesNotExist
from django.template.backends.django import DjangoTemplates, Template as DjangoTemplate, reraise
from django.template.context import make_context
from django.utils.safestring import SafeString


class Template(DjangoTemplate):
    """A template that writes numbers as Python does."""

    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        """The text.

        Raises:
            TemplateDoesNotExist: it extends or includes one that there is not.
        """
        plain = make_context(context, request, autoescape=self.backend.engine.autoescape)
        plain.use_l10n = False
        try:
            return self.template.render(plain)
        except TemplateDoesNotExist as error:
            reraise(error, self.backend)
            raise


class Templates(DjangoTemplates):
    """The backend that `settings.TEMPLATES` names."""

    def from_string(self, template_code: str) -> Template:
        """A template of a text."""
        return Template(super().from_string(template_code).template, self)

    def get_template(self, template_name: str) -> Template:
        """A template of a file."""
        return Template(super().get_template(template_name).template, self)
