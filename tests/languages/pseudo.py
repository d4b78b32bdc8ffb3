"""A pseudo-language: every marked text in brackets, with accents, two fifths longer; for finding what is not marked."""

import re
import struct
from collections.abc import Callable
from pathlib import Path

from tests.languages.extraction import messages

CODE, FOLDER = "en-xa", "en_XA"
ACCENTS = str.maketrans("aceinouyACEINOUY", "áçéíñóúýÁÇÉÍÑÓÚÝ")
WORD = 7  # letters
KEPT = re.compile(r"%\(\w+\)s|\{\w*\}|%%|<[^>]*>|&#?\w+;")  # placeholders, markup and entities


def pseudo(text: str) -> str:
    """A text as the pseudo-language has it."""
    places = [*KEPT.finditer(text)]
    parts, at = [], 0
    for place in places:
        parts += [text[at : place.start()].translate(ACCENTS), place.group()]
        at = place.end()
    parts.append(text[at:].translate(ACCENTS))
    n_more = max(1, round(0.4 * len(KEPT.sub("", text))) - 2)
    words = ["·" * min(WORD, n_more - start) for start in range(0, n_more, WORD)]  # a line may break between them
    return f"⟦{''.join(parts)}{' '.join(words)}⟧"


def write_catalogue(folder: Path, locale: str = FOLDER, say: Callable[[str], str] = pseudo) -> None:
    """Write a compiled catalogue below a folder of catalogues.

    Args:
        folder: of all catalogues.
        locale: the name of its own folder; of the pseudo-language if nothing is said.
        say: how the language says a text.
    """
    entries = {"": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"}
    for text, plural in messages():
        if plural:
            entries[f"{text}\0{plural}"] = f"{say(text)}\0{say(plural)}"
        else:
            entries[text] = say(text)
    keys = sorted(entries, key=str.encode)
    ids, texts = ([part.encode() for part in parts] for parts in (keys, [entries[key] for key in keys]))
    n, at = len(keys), 28 + 16 * len(keys)
    tables, blob = [], b""
    for part in (*ids, *texts):
        tables.append(struct.pack("<II", len(part), at + len(blob)))
        blob += part + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, n, 28, 28 + 8 * n, 0, at)
    file = folder / locale / "LC_MESSAGES" / "django.mo"
    file.parent.mkdir(parents=True)
    file.write_bytes(head + b"".join(tables) + blob)
