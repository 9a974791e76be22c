"""Compression of the turns of a finished match.

Observations repeat earlier ones, and matches of an environment resemble each other. With the end of an earlier match as the
zlib dictionary, a match shrinks to a tenth or less.
"""

import zlib
from collections.abc import Sequence

from rating.errors import RunError

_LEVEL = 6
_WINDOW = 32768
"""Size of the zlib window, in bytes."""
LARGEST = 64 << 20
"""Maximum size of packed data before compression, in bytes."""


def make_dictionary(lines: Sequence[str]) -> bytes:
    """Returns the compression dictionary of an environment, made from the turns of one of its matches."""
    return "\n".join(lines).encode()[-_WINDOW:]


def pack_lines(lines: Sequence[str], dictionary: bytes) -> bytes:
    """Packs the turns of a match, each one line without its line end."""
    return pack("\n".join(lines).encode(), dictionary)


def unpack_lines(data: bytes, dictionary: bytes) -> list[str]:
    """Reverses ``pack_lines`` with the same dictionary.

    Raises:
        RunError: if the data is damaged.
    """
    try:
        return unpack(data, dictionary).decode().split("\n")
    except UnicodeDecodeError as error:
        raise RunError(f"the record of a run is damaged: the turns of a match are no text ({error})") from error


def pack(data: bytes, dictionary: bytes = b"") -> bytes:
    """Packs bytes.

    Raises:
        RunError: if the data is larger than ``LARGEST``.
    """
    if len(data) > LARGEST:
        raise RunError(f"expected at most {LARGEST >> 20} MiB to be packed together, got {len(data)} bytes")
    packer = zlib.compressobj(_LEVEL, zdict=dictionary) if dictionary else zlib.compressobj(_LEVEL)
    return packer.compress(data) + packer.flush()


def unpack(data: bytes, dictionary: bytes = b"") -> bytes:
    """Reverses ``pack`` with the same dictionary.

    Raises:
        RunError: if the data is damaged.
    """
    unpacker = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(data, LARGEST)
    except (zlib.error, TypeError) as error:
        raise RunError(f"the record of a run is damaged: packed turns cannot be read ({error})") from error
    if not unpacker.eof and len(unpacked) == LARGEST:
        raise RunError(
            f"the record of a run is damaged: a row unpacks to more than {LARGEST >> 20} MiB, which no run writes"
        )
    if not unpacker.eof or unpacker.unused_data:
        raise RunError("the record of a run is damaged: packed turns end too early or too late")
    return unpacked
