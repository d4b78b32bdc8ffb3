"""The texts that templates and Python mark for translation, as they are in the catalogue `locale/django.pot`.

    python -m tests.languages.extraction

writes the catalogue. It asks Django's own parser, so that it needs no tools of gettext.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import django
from django.conf import settings

if __name__ == "__main__":
    django.setup()

from django.template import engines
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from ranking_engine import AGGREGATIONS, MISSING_POLICIES, RULES, TIES
from ranking_engine.axioms import LOOKED_AT, PROPERTIES, TEXTS, conventions, entry
from ranking_engine.catalogue.choice import QUESTIONS, choose_rule
from ranking_engine.catalogue.omission import NATIVE_RULES, policy_sentence
from ranking_engine.catalogue.rule import FAMILIES
from ranking_engine.files.metadata import KINDS
from ranking_engine.importers import FORMATS
from ranking_engine.stability.catalogue import EXPERIMENTS, STUDIES, declared_parameters
from ranking_engine.votes.models import MODELS

CATALOGUE = Path(__file__).parents[2] / "locale" / "django.pot"
HEAD = """# The texts of the pages that can be translated; `make messages` writes this file.
msgid ""
msgstr ""
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"
"""
CALLS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "_", "Sentence"}
WITH_PLURAL = {"ngettext", "ngettext_lazy", "Sentence"}
IN_TAGS = re.compile(r"\b_\(\"([^\"]*)\"\)")
Message = tuple[str, str]  # a text, and its plural or nothing


@cache
def messages() -> dict[Message, list[str]]:
    """Each marked text with the files that have it."""
    places: dict[Message, list[str]] = {}
    for path, message in [*_of_templates(), *_of_python(), *_of_engine()]:
        files = places.setdefault(message, [])
        if path not in files:
            files.append(path)
    return dict(sorted(places.items()))


def _of_templates() -> Iterator[tuple[str, Message]]:
    folder = settings.ROOT / "templates"
    for file in sorted([*folder.rglob("*.html"), *folder.rglob("*.txt")]):
        name = file.relative_to(folder).as_posix()
        for text in IN_TAGS.findall(file.read_text(encoding="utf-8")):
            yield f"templates/{name}", (text.replace("%", "%%"), "")
        nodes = engines["django"].get_template(name).template.nodelist
        for node in nodes.get_nodes_by_type(TranslateNode):
            yield f"templates/{name}", (str(node.filter_expression.var.literal).replace("%", "%%"), "")
        for node in nodes.get_nodes_by_type(BlockTranslateNode):
            plural = node.render_token_list(node.plural)[0] if node.plural else ""
            yield f"templates/{name}", (node.render_token_list(node.singular)[0], plural)


def _of_python() -> Iterator[tuple[str, Message]]:
    for file in sorted((settings.ROOT / "leaderboard").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "gettext" not in text and "Sentence" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CALLS and node.args:
                texts = [value.value for value in node.args[:2] if isinstance(value, ast.Constant)]
                if texts:
                    plural = texts[1] if node.func.id in WITH_PLURAL and len(texts) == 2 else ""
                    yield file.relative_to(settings.ROOT).as_posix(), (texts[0], plural)


def _of_engine() -> Iterator[tuple[str, Message]]:
    """Names and sentences of the engine, which knows no languages: pages translate them where they show them."""
    for rule in RULES.values():
        yield from (
            ("ranking_engine/rules", (text, ""))
            for text in (
                rule.name,
                rule.summary,
                rule.advice,
                rule.source,
                rule.winner_below,
                rule.example_note,
                rule.task_sum.name if rule.task_sum else "",
            )
            if text
        )
        options = (value.replace("_", " ") for values in rule.options.values() for value in values)
        yield from (("ranking_engine/catalogue/variants.py", (text, "")) for text in options)
        sources = (entry(rule.key, key, options).source for options in conventions(rule.key) for key in PROPERTIES)
        yield from (("ranking_engine/catalogue", (text, "")) for text in sources if text)
    texts = (*MISSING_POLICIES.values(), *map(policy_sentence, MISSING_POLICIES), *AGGREGATIONS.values())
    for text in (*texts, *TIES, *TIES.values(), *(f"ties {convention}" for convention in TIES), NATIVE_RULES):
        yield "ranking_engine/core", (text, "")
    yield from (("ranking_engine/importers", (one.name, "")) for one in FORMATS)
    yield from (("ranking_engine/files/metadata.py", (text, "")) for text in KINDS.values())
    yield from (("ranking_engine/votes/models.py", (model.name, "")) for model in MODELS.values())
    for key, family in FAMILIES.items():
        yield from (("ranking_engine/catalogue/rule.py", (text, "")) for text in (key, family.meaning))
    for one in PROPERTIES.values():
        yield from (
            ("ranking_engine/axioms/properties.py", (text, "")) for text in (one.name, one.definition, one.source)
        )
    yield from (("ranking_engine/axioms/sentences.py", (text, "")) for text in TEXTS.values())
    yield from (("ranking_engine/axioms/search.py", (text, "")) for text in LOOKED_AT)
    for study in (*STUDIES.values(), *EXPERIMENTS.values()):
        texts = [study.name, study.question, study.source]
        yield from (("ranking_engine/stability/catalogue.py", (text, "")) for text in texts)
    for parameter in (parameter for study in EXPERIMENTS for parameter in declared_parameters(study)):
        choices = (choice.replace("_", " ") for choice in parameter.choices)
        texts = [text for text in (parameter.label, parameter.help, *choices) if text]
        yield from (("ranking_engine/stability", (text, "")) for text in texts)
    for need in choose_rule({}).requirements:  # what every answer needs
        texts = (need.text, need.lack, f"It {need.text}.")
        yield from (("ranking_engine/catalogue/choice.py", (text, "")) for text in texts)
    for question in QUESTIONS:
        needs = [
            text
            for answer in question.answers
            for need in answer.needs
            for text in (need.text, need.lack, f"It {need.text}.")
        ]
        answers = [answer.text for answer in question.answers]
        for text in (question.text, question.why, *answers, *needs):
            yield "ranking_engine/catalogue/choice.py", (text, "")


def catalogue() -> str:
    """The catalogue as it is committed."""
    entries = [HEAD]
    for (text, plural), files in messages().items():
        lines = [f"#: {' '.join(files)}", *(["#, python-format"] if "%" in text + plural else [])]
        lines.append(f"msgid {_quoted(text)}")
        if plural:
            lines += [f"msgid_plural {_quoted(plural)}", 'msgstr[0] ""', 'msgstr[1] ""']
        else:
            lines.append('msgstr ""')
        entries.append("".join(f"{line}\n" for line in lines))
    return "\n".join(entries)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


if __name__ == "__main__":
    CATALOGUE.write_text(catalogue(), encoding="utf-8")
