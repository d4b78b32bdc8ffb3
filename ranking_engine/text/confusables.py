"""Names that look alike: letters and digits of different alphabets with one shape, and what two such names share.

The table is an excerpt of `confusables.txt` of Unicode Technical Standard 39, "Unicode Security Mechanisms"
(https://www.unicode.org/Public/security/, under the Unicode License v3): the single characters whose look-alike is an
ASCII letter or digit, without those that compatibility normalisation (NFKC) makes ASCII anyway, and without letters
that are written from right to left. `_SMALL_CAPITALS` is our own: letters that the standard leaves out, because they
look like a Latin capital only where that is written small.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ranking_engine.text.normal_forms import normal_form
from ranking_engine.text.remembered import remembered
from ranking_engine.text.unicode_joiners import without_joiners

_LOOK_ALIKES = {
    "a": "\u0251\u03b1\u0430\u237a",
    "b": "\u0184\u042c\u13cf\u1472\u15af",
    "c": "\u0441\u1d04\u2ca5\uabaf\U0001043d",
    "d": "\u0501\u13e7\u146f\ua4d2",
    "e": "\u0435\u04bd\u212e\uab32",
    "f": "\u0584\u1e9d\ua799\uab35",
    "g": "\u018d\u0261\u0581\u1d83",
    "h": "\u04bb\u0570\u13c2",
    "i": "\u0131\u0269\u026a\u03b9\u0456\u04cf\u13a5\u2373\ua647\uab75\U000118c3",
    "j": "\u03f3\u0458",
    "l": (
        "\u0196\u01c0\u0399\u0406\u04c0\u06f1\u16c1\u2223\u23fd\u2c92\u2d4f\ua4f2\U0001028a\U00010309"
        "\U00010320\U00016f28"
    ),
    "n": "\u0578\u057c",
    "o": (
        "\u03bf\u03c3\u043e\u0585\u06f5\u0966\u0a66\u0ae6\u0be6\u0c02\u0c66\u0c82\u0ce6\u0d02\u0d20\u0d66"
        "\u0d82\u0e50\u0ed0\u101d\u1040\u10ff\u1d0f\u1d11\u2c9f\uab3d\U0001042c\U000104ea\U000118c8\U000118d7"
    ),
    "p": "\u03c1\u0440\u2374\u2ca3",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\u2c85\uab47\uab48\uab81",
    "s": "\u01bd\u0455\ua731\uabaa\U00010448\U000118c1",
    "u": "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52\U000104f6\U000118d8",
    "v": "\u03bd\u0475\u1d20\u2228\u22c1\uaba9\U00011706\U000118c0",
    "w": "\u026f\u0461\u051d\u0561\u1d21\uab83\U0001170a\U0001170e\U0001170f",
    "x": "\u00d7\u0445\u1541\u157d\u166e\u292b\u292c\u2a2f",
    "y": "\u0263\u028f\u03b3\u0443\u04af\u10e7\u1d8c\u1eff\uab5a\U000118dc",
    "z": "\u1d22\uab93\U000118c4",
    "A": "\u0391\u0410\u13aa\u15c5\ua4ee\U000102a0\U00016f40",
    "B": "\u0392\u0412\u13f4\u15f7\ua4d0\ua7b4\U00010282\U000102a1\U00010301",
    "C": "\u0421\u13df\u2ca4\ua4da\U000102a2\U00010302\U00010415\U0001051c\U000118e9\U000118f2\U0001f74c",
    "D": "\u13a0\u15de\u15ea\ua4d3",
    "E": "\u0395\u0415\u13ac\u22ff\u2d39\ua4f0\U00010286\U000118a6\U000118ae",
    "F": "\u03dc\u15b4\ua4dd\ua798\U00010287\U000102a5\U00010525\U000118a2\U000118c2\U0001d213",
    "G": "\u050c\u13c0\u13f3\ua4d6",
    "H": "\u0397\u041d\u13bb\u157c\u2c8e\ua4e7\U000102cf",
    "J": "\u037f\u0408\u13ab\u148d\ua4d9\ua7b2",
    "K": "\u039a\u041a\u13e6\u16d5\u2c94\ua4d7\U00010518",
    "L": "\u13de\u14aa\u2cd0\ua4e1\U0001041b\U00010526\U000118a3\U000118b2\U00016f16\U0001d22a",
    "M": "\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2c98\ua4df\U000102b0\U00010311",
    "N": "\u039d\u2c9a\ua4e0\U00010513",
    "O": (
        "\u039f\u041e\u0555\u09e6\u0b20\u0b66\u12d0\u2c9e\u2d54\u3007\ua4f3\U00010292\U000102ab\U00010404"
        "\U000104c2\U00010516\U000114d0\U000118b5\U000118e0"
    ),
    "P": "\u03a1\u0420\u13e2\u146d\u2ca2\ua4d1\U00010295",
    "Q": "\u2d55",
    "R": "\u01a6\u13a1\u13d2\u1587\ua4e3\U000104b4\U00016f35\U0001d216",
    "S": "\u0405\u054f\u13d5\u13da\ua4e2\U00010296\U00010420\U00016f3a",
    "T": "\u03a4\u0422\u13a2\u22a4\u27d9\u2ca6\ua4d4\U00010297\U000102b1\U00010315\U000118bc\U00016f0a\U0001f768",
    "U": "\u054d\u1200\u144c\u222a\u22c3\ua4f4\U000104ce\U000118b8\U00016f42",
    "V": "\u0474\u06f7\u13d9\u142f\u2d38\ua4e6\ua6df\U0001051d\U000118a0\U00016f08\U0001d20d",
    "W": "\u051c\u13b3\u13d4\ua4ea\U000118e6\U000118ef",
    "X": (
        "\u03a7\u0425\u166d\u16b7\u2573\u2cac\u2d5d\ua4eb\ua7b3\U00010290\U000102b4\U00010317\U00010322"
        "\U00010527\U000118ec"
    ),
    "Y": "\u03a5\u0423\u04ae\u13a9\u13bd\u2ca8\ua4ec\U000102b2\U000118a4\U00016f43",
    "Z": "\u0396\u13c3\ua4dc\U000102f5\U000118a9\U000118e5",
    "2": "\u01a7\u03e8\u14bf\ua644\ua6ef\ua75a",
    "3": "\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab\U000118ca\U00016f3b\U0001d206",
    "4": "\u13ce\U000118af",
    "5": "\u01bc\U000118bb",
    "6": "\u0431\u13ee\u2cd2\U000118d5",
    "7": "\U000104d2\U000118c6\U0001d212",
    "8": "\u0222\u0223\u09ea\u0a6a\u0b03\U0001031a",
    "9": "\u09ed\u0a67\u0b68\u0d6d\u2cca\ua76e\U000118ac\U000118cc\U000118d6",
}
# Of the look-alikes of `l` those that look like a capital I, too.
_LIKE_CAPITAL_I = "\u0196\u0399\u0406\u04c0\u2c92\u16c1\ua4f2\U00016f28\U0001028a\U00010309"
_SMALL_CAPITALS = str.maketrans(
    "\u1d00\u0299\u1d05\u1d07\u029c\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d18\u0280\u1d1b"
    "\u0262\ua730\ua7af\u043a\u043c\u0442\u03ba\u03c4\u04cf",
    "abdehjklmnprtgfqkmtktl",
)

_LETTERS = str.maketrans({like: letter for letter, likes in _LOOK_ALIKES.items() for like in likes})
_FOLDED = _LETTERS | dict.fromkeys(map(ord, _LIKE_CAPITAL_I), "I") | _SMALL_CAPITALS
_SHAPES = _LETTERS | _SMALL_CAPITALS
_LOOKING_LATIN, _FOLDING = frozenset(map(chr, _LETTERS)), frozenset(map(chr, _FOLDED))
_ASCII_SHAPES = str.maketrans({"I": "l", "1": "l", "|": "l", "0": "O", "m": "rn"})

_SEPARATORS = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_ASCII_SEPARATORS = {code: None for code in range(128) if _SEPARATORS.match(chr(code))}
_EDGES = ".,;:!'\"`\u00b4\u00b7\u2018\u2019\u201a\u201c\u201d\u201e\u2024\u3001\u3002"
_WORDS = re.compile(r"[^\W_]{2,}")
_BELOW = {1, 202, 220, 240}  # combining classes of marks through a letter, attached to its foot, and below it


def skeleton(name: str) -> str:
    """Return what two names share that differ only in case, spaces, hyphens, joiners, full stops and other small signs
    at either end, marks on Latin letters or below others, and letters that look like Latin ones.
    """
    if name.isascii():  # as below, for what most names are
        return _bare(name.casefold().translate(_ASCII_SEPARATORS))
    return _bare(_SEPARATORS.sub("", _folded(_as_latin(_plain(name), _FOLDED))))


def shape(name: str) -> str:
    """Return what two names share that are drawn alike, case and all: as `skeleton`, and with one sign for each of
    `l I 1 |`, `O 0` and `m rn`. A name in small letters has another shape than the same in capitals.
    """
    text = name
    if not name.isascii():
        text = without_joiners(_as_latin(_plain(name), _SHAPES))
    return _bare(_SEPARATORS.sub("", text)).translate(_ASCII_SHAPES)


def words_joined(name: str) -> str:
    """Return what two names share that differ in case, spaces, hyphens and joiners alone."""
    return _SEPARATORS.sub("", _folded(normal_form(name, "NFKC")))


def mixed_word(name: str) -> str:
    """Return the first word of `name` that mixes Latin letters with others and could pass as Latin; empty if none does.

    Such a word has letters of another alphabet among Latin ones, and each of them looks like an ASCII letter: `page`
    with a Cyrillic a, but not `\u03bcs`, `\u0394acc` or a word that is Greek, Cyrillic or Japanese throughout.
    """
    if name.isascii():
        return ""
    plain = _plain(name)
    letters = {letter for letter in set(plain) if unicodedata.category(letter).startswith("L")}
    if letters.isdisjoint(_LOOKING_LATIN) or not any(map(_is_latin, letters)):  # as most names of other alphabets
        return ""
    for word in _WORDS.findall(plain):
        letters = {letter for letter in word if unicodedata.category(letter).startswith("L")}
        if letters.isdisjoint(_LOOKING_LATIN) or not all(map(_is_latin, letters - _LOOKING_LATIN)):
            continue
        foreign = {letter for letter in letters & _LOOKING_LATIN if not _is_latin(letter)}
        if foreign and foreign != letters:
            return str(word)
    return ""


def foreign_letters(word: str) -> list[str]:
    """Return the letters of `word` that are not Latin, each once and named, for an error message."""
    letters = [letter for letter in dict.fromkeys(word) if unicodedata.category(letter).startswith("L")]
    named = [(letter, unicodedata.name(letter, "").lower()) for letter in letters if not _is_latin(letter)]
    return [f"U+{ord(letter):04X} ({called})" for letter, called in named]


@lru_cache(maxsize=1 << 12)  # more than there are Latin letters and look-alikes
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "MODIFIER LETTER"))


def _folded(text: str) -> str:
    return normal_form(without_joiners(text).casefold())


def _as_latin(text: str, letters: dict[int, str | int]) -> str:
    """Return `text` with Latin letters for those that look like them; nothing is looked up where there are none."""
    return text if _FOLDING.isdisjoint(text) else text.translate(letters)


def _bare(text: str) -> str:
    return text.strip(_EDGES) or text


@remembered
def _plain(name: str) -> str:
    """Return `name` in compatible characters, without marks on Latin letters, and without marks through or below Greek
    and Cyrillic ones.

    Marks of other scripts stay: they are vowels, or make a letter of their own.
    """
    text = normal_form(name, "NFKC")
    if not any(map(_has_marks, set(text))):
        return text
    kept = []
    letter = ""  # that a mark is on
    for character in normal_form(text, "NFD"):
        if unicodedata.category(character) != "Mn":
            letter = character
        elif letter and _loses_mark(letter, character):
            continue
        kept.append(character)
    return normal_form("".join(kept))


@lru_cache(maxsize=1 << 14)
def _has_marks(character: str) -> bool:
    return any(unicodedata.category(part) == "Mn" for part in normal_form(character, "NFD"))


@lru_cache(maxsize=1 << 12)
def _loses_mark(letter: str, mark: str) -> bool:
    alphabet = "LATIN" if letter.isascii() else unicodedata.name(letter, "").split(" ", 1)[0]
    return alphabet == "LATIN" or (alphabet in {"GREEK", "CYRILLIC"} and unicodedata.combining(mark) in _BELOW)
