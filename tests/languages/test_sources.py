"""The sources of pages: a text with values in it is marked for translation, also where no test opens its page."""

import ast
import re
from collections.abc import Iterator

from django.conf import settings

# The modules that make what pages show.
PAGES = (
    "access", "accounts", "boards", "common/charts", "comparisons", "explore", "evaluation/forms*", "evaluation/views*",
    "rankings", "studies", "submissions/forms.py", "submissions/lifecycle.py", "submissions/moderation",
    "submissions/statements.py", "submissions/system_form.py", "templatetags", "votes/lifecycle.py", "votes/views*",
)  # fmt: skip
# What these hand to `gettext`, to the log, to an error whose reader translates it, or to `in_page_language`.
CALLS = {
    "gettext", "ngettext", "gettext_lazy", "gettext_noop", "Sentence", "in_page_language", "append_only_permit",
    "debug", "info", "warning", "error", "exception",
}  # fmt: skip
WORD = re.compile(r"(?:^|[\s({])[A-Za-z]?[a-z]{2,}(?=[\s.,:;)}]|$)")
# By module the f-strings with words that are no text of a page.
KEYS_AND_HEADERS = {
    "access/audience.py": ["{}, restricted, user {}", "draft {}"],
    "accounts/display_names.py": ["{}: {} of "],  # in the log of the administration
    "accounts/organisations/founding.py": ["organisation {} deleted", "benchmark {} left at {}", "benchmark {}"],
    "accounts/organisations/members.py": ["role of user {}"],
    "accounts/people.py": ["ban {}", "ban {} lifted"],
    "accounts/tokens.py": ["token {} {}"],
    "accounts/views.py": ['curl -H "Authorization: Token {}" {}'],
    "accounts/views_people.py": ['attachment; filename="{}-audit.csv"'],
    "comparisons/history.py": ["%(what)s {}"],
    "evaluation/views_predictions.py": ['attachment; filename="{}-{}.csv"'],
    "explore/benchmarks.py": ["benchmark agreement, pairs too:{}:{}"],
    "rankings/notices.py": ["publication {}", "{} fell", "{} first"],
    "studies/experiments/views.py": ['attachment; filename="{}-experiment-{}.npz"'],
    "studies/plans.py": ["study {}"],
    "studies/views.py": ['attachment; filename="{}"'],
}
RANK_INTERVALS = (
    "ranks under {}, with the lowest and the highest rank if the same tasks were drawn again with replacement,"
    " first for each system separately, then for all systems at once, and which may be best, and with these "
    "ranks if the scores were measured again, for each system separately; missing scores: {}; aggregation: {}."
)
IN_FILES_OR_STORED = {
    # Reasons in the trail of changes, which is written once for readers of every language.
    "accounts/organisations/founding.py": ["The benchmark belongs to {}.", "The benchmark no longer belongs to {}."],
    "accounts/organisations/members.py": ["By the role in {}."],
    # Files are in English.
    "boards/pareto/front.py": ["{} against {}."],
    "boards/revision_exports.py": [
        "{}, revision {}: {}",
        RANK_INTERVALS,
        "aggregation {}",
        "; {} without a score cast no vote",
        "{}, revision {}",
    ],
    "explore/meta_boards/views.py": ["{}: ranks over several benchmarks", "Figures of {}, ranking engine {}"],
    "rankings/redaction.py": ["System {}"],
    # Reasons and problems as the engine words them: `in_page_language` translates them where they are shown.
    "rankings/confidence/significance.py": ["not computed for more than {} systems (here {})"],
    "rankings/weights.py": ["the weight of the {} {}", "The weight of the {} {}"],
    "studies/instances.py": ["not computed for more than {} scores of single instances (here {})"],
    "studies/plans.py": ["it needs at least {}, and the limit is {}; owners can raise it"],
}


def test_texts_with_values_are_marked_for_translation():
    texts_by_path: dict[str, list[str]] = {}
    root = settings.ROOT / "leaderboard"
    for name in PAGES:
        for place in root.glob(name):
            for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
                if "open_data" not in path.parts and (texts := [*_texts(ast.parse(path.read_text(encoding="utf-8")))]):
                    texts_by_path[path.relative_to(root).as_posix()] = texts
    unmarked = {
        path: rest
        for path, texts in texts_by_path.items()
        if (rest := [text for text in texts if text not in _known(path)])
    }
    assert unmarked == {}
    assert {path: [text for text in _known(path) if text not in texts] for path, texts in texts_by_path.items()} == {
        path: [] for path in texts_by_path
    }
    assert {*KEYS_AND_HEADERS, *IN_FILES_OR_STORED} <= texts_by_path.keys()


def _known(path: str) -> list[str]:
    return [*KEYS_AND_HEADERS.get(path, []), *IN_FILES_OR_STORED.get(path, [])]


def _texts(tree: ast.AST) -> Iterator[str]:
    """The f-strings with words that no call of CALLS takes and that no error has, with {} in place of values."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _name(node.func) in CALLS):
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            if " " in text and WORD.search(text):
                yield text
        yield from _texts(node)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_an_unmarked_text_is_found_and_a_marked_one_is_not():
    source = """
def said(n, name):
    logger.warning(f"there are {n} systems")
    if not n:
        raise ValueError(f"no system of {name}")
    return gettext("%(n)s of them") % {"n": f"{n:,}"} + f" (of {n} systems, {name})"
"""
    assert [*_texts(ast.parse(source))] == [" (of {} systems, {})"]
