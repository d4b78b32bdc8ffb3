"""How references are kept: compressed, then encrypted with AES-GCM by a key that is not in the database.

Keys come from `PLURANK_REFERENCES_KEYS`, each 32 bytes in base64. The first one encrypts and all decrypt, so that a key
can be changed while the site runs. Outside production a site without this setting makes a key when it needs one, and
keeps it in a file that only its owner can read.

What is encrypted is bound to its place, a task and the number of its references: copied to another row, it cannot be
decrypted.
"""

import base64
import hashlib
import secrets
import zlib
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.utils.translation import gettext

from config import env
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.models import TaskReferences

NONCE_BYTES = 12
MAX_PLAIN_BYTES = 200_000_000  # of one file, decompressed


class MissingKeyError(EvaluationError):
    """References cannot be encrypted or decrypted: the operator has to set a key. The message says which."""


def references_keys() -> Mapping[str, bytes]:
    """The keys by their id, the one that encrypts first.

    Raises:
        MissingKeyError: there is none.
    """
    texts = settings.REFERENCES_KEYS
    if not texts and settings.IS_PRODUCTION:
        raise MissingKeyError(
            gettext("This site has no key for references. Its operator can set PLURANK_REFERENCES_KEYS.")
        )
    if not texts:
        texts = [env.secret_file(settings.REFERENCES_KEY_FILE, new_key)]
    keys = [base64.urlsafe_b64decode(text) for text in texts]
    return {hashlib.sha256(b"plurank.references" + key).hexdigest()[:16]: key for key in keys}


def new_key() -> str:
    """A random key, as the setting has it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(env.REFERENCES_KEY_BYTES)).decode()


def seal(row: TaskReferences, data: bytes) -> None:
    """Set what is stored encrypted of references that are not saved yet: the file, its hash and the key's id.

    Args:
        row: with task and number.
        data: the plain file.

    Raises:
        MissingKeyError: there is no key.
    """
    key_id, key = next(iter(references_keys().items()))
    row.key_id = key_id
    row.ciphertext = _encrypt(key, zlib.compress(data, 6), _place(row, "file"))
    row.sealed_sha256 = _encrypt(key, hashlib.sha256(data).digest(), _place(row, "sha256"))


def opened_file(row: TaskReferences) -> bytes:
    """The plain file of references. Keep it in memory alone: not in a file, a message, a log or an answer.

    Raises:
        MissingKeyError: the key is not among the settings.
    """
    decompressor = zlib.decompressobj()
    data = decompressor.decompress(_decrypt(row, row.ciphertext, "file"), MAX_PLAIN_BYTES)
    if decompressor.unconsumed_tail:
        raise ValueError(f"{row} has more than {MAX_PLAIN_BYTES:,} bytes")
    return data


def opened_sha256(row: TaskReferences) -> str:
    """The SHA-256 of the plain file, in hexadecimal.

    Raises:
        MissingKeyError: the key is not among the settings.
    """
    return _decrypt(row, row.sealed_sha256, "sha256").hex()


def rotate(row: TaskReferences) -> bool:
    """Encrypt references with the first key, where another one does now.

    Args:
        row: locked by the caller.

    Returns:
        Whether another key encrypted them before.

    Raises:
        MissingKeyError: the key that encrypts them now is not among the settings.
    """
    key_id, key = next(iter(references_keys().items()))
    if row.key_id == key_id:
        return False
    for field, part in (("ciphertext", "file"), ("sealed_sha256", "sha256")):
        setattr(row, field, _encrypt(key, _decrypt(row, getattr(row, field), part), _place(row, part)))
    row.key_id = key_id
    row.save(update_fields=["ciphertext", "sealed_sha256", "key_id"])
    return True


def _encrypt(key: bytes, data: bytes, place: bytes) -> bytes:
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, data, place)


def _decrypt(row: TaskReferences, stored: bytes | memoryview, part: str) -> bytes:
    key = references_keys().get(row.key_id)
    if key is None:
        raise MissingKeyError(
            gettext(
                "The key %(key)s of %(references)s is not among PLURANK_REFERENCES_KEYS. Without it they "
                "cannot be read."
            )
            % {"key": row.key_id, "references": row}
        )
    data = bytes(stored)
    try:
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], _place(row, part))
    except InvalidTag:
        raise MissingKeyError(
            gettext("%(references)s cannot be decrypted: the stored bytes were changed or moved.") % {"references": row}
        ) from None


def _place(row: TaskReferences, part: str) -> bytes:
    return f"plurank references {row.task_id} {row.number} {part}".encode()
