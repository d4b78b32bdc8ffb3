"""The invisible characters that some names need: joiners in Persian and Indic words, and in emoji.

They are allowed where they change what is seen, and there only: as IDNA says for domain names (RFC 5892, appendix A.1
and A.2, CONTEXTJ), and in emoji sequences (UTS 51). Names never differ by them alone (`names.fold_name`).
"""

from __future__ import annotations

import re
import unicodedata

NON_JOINER, JOINER, EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"
_JOINERS = re.compile(f"[{NON_JOINER}{JOINER}{EMOJI_STYLE}]")
VIRAMA = 9  # the combining class of the signs that take a consonant's vowel away

# Arabic letters by how they join (Unicode, ArabicShaping.txt): those of _RIGHT join the letter before them only, all
# others of _LETTERS both. Other scripts with joined letters are rare in names, and their joiners are refused.
_LETTERS = (
    range(0x620, 0x621), range(0x622, 0x640), range(0x641, 0x64B), range(0x66E, 0x670), range(0x671, 0x674),
    range(0x675, 0x6D4), range(0x6D5, 0x6D6), range(0x6EE, 0x6F0), range(0x6FA, 0x6FD), range(0x6FF, 0x700),
    range(0x750, 0x780),
)  # fmt: skip
_RIGHT = frozenset(
    code
    for codes in (
        range(0x622, 0x626), [0x627, 0x629], range(0x62F, 0x633), [0x648], range(0x671, 0x674), range(0x675, 0x678),
        range(0x688, 0x69A), [0x6C0], range(0x6C3, 0x6CC), [0x6CD, 0x6CF], range(0x6D2, 0x6D4), [0x6D5, 0x6EE, 0x6EF],
        range(0x759, 0x75C), [0x76B, 0x76C, 0x771, 0x773, 0x774, 0x778, 0x779],
    )
    for code in codes
)  # fmt: skip
_PICTURES = (range(0x203C, 0x204A), range(0x2122, 0x213A), range(0x2190, 0x2C00), range(0x3030, 0x329A),
             range(0x1F000, 0x1FB00))  # fmt: skip
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def without_joiners(name: str) -> str:
    """Return `name` without the characters that this module is about."""
    return name if name.isascii() else _JOINERS.sub("", name)


def is_at_home(name: str, i: int) -> bool:
    """Whether the i-th character of `name` is a joiner in a place where it changes what is seen."""
    character = name[i]
    if character == EMOJI_STYLE:
        return i > 0 and _is_picture(name[i - 1])
    if character not in (NON_JOINER, JOINER) or i == 0:
        return False
    if unicodedata.combining(name[i - 1]) == VIRAMA:
        return True
    before, after = i - 1, i + 1
    if character == JOINER:  # an emoji ends before it, and another begins after it
        while before > 0 and (name[before] == EMOJI_STYLE or ord(name[before]) in _SKIN_TONES):
            before -= 1
        return _is_picture(name[before]) and after < len(name) and _is_picture(name[after])
    # The letters beside it, marks left out, would be joined without it.
    while before > 0 and unicodedata.category(name[before]) == "Mn":
        before -= 1
    while after < len(name) - 1 and unicodedata.category(name[after]) == "Mn":
        after += 1
    joins_on = _is_letter(name[before]) and ord(name[before]) not in _RIGHT
    return joins_on and after < len(name) and _is_letter(name[after])


def _is_picture(character: str) -> bool:
    is_there = any(ord(character) in codes for codes in _PICTURES)
    return is_there and unicodedata.category(character) in ("So", "Sm", "Po", "Pd")


def _is_letter(character: str) -> bool:
    return any(ord(character) in codes for codes in _LETTERS)
