"""A word that only hidden references have, and how it is looked for in an answer."""

import base64
import io
import zipfile
import zlib

# The word is nowhere else; no answer of any route has it.
SECRET_LABEL = "numbatsecret"
REFERENCES = f"id,reference,split\na,{SECRET_LABEL},public\nb,no,private\nc,no,development\n".encode()
WORD = SECRET_LABEL.encode()
# A file of references as it may be packed in an answer: none of them is one.
FORMS_OF_THE_WORD = [WORD, base64.b64encode(WORD)[:-2].lower(), WORD.hex().encode(), WORD[::-1]]


def unpacked(body: bytes) -> bytes:
    """A body, and what is in it where it is a zip archive or compressed."""
    parts = [body]
    if body[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts += [unpacked(archive.read(name)) for name in archive.namelist()]
    elif body[:2] == b"\x78\x9c":
        parts.append(zlib.decompress(body))
    return b"\n".join(parts)


def tells(body: bytes) -> bool:
    """Whether the secret word is in a body, in some form."""
    searched = unpacked(body).lower()
    return any(form in searched for form in FORMS_OF_THE_WORD)
