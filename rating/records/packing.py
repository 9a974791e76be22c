"""How the turns of a match that has ended are kept: as one compressed text.

What a player reads repeats what was read before, and one match of an environment reads like another: with the end of an
earlier match of its environment as dictionary, a match shrinks to a tenth or less.
"""

import zlib
from collections.abc import Sequence

from rating.errors import RunError

_LEVEL = 6
_WINDOW = 32768
"""Bytes that zlib looks back."""
LARGEST = 64 << 20
"""Bytes that are packed together; what unpacks to more was not packed here."""


def make_dictionary(lines: Sequence[str]) -> bytes:
    """Returns what the matches of an environment are packed with, made from the turns of one of them."""
    return "\n".join(lines).encode()[-_WINDOW:]


def pack_lines(lines: Sequence[str], dictionary: bytes) -> bytes:
    """Packs the turns of a match, each a text without line ends."""
    return pack("\n".join(lines).encode(), dictionary)


def unpack_lines(data: bytes, dictionary: bytes) -> list[str]:
    """Returns what ``pack_lines`` packed with the same dictionary.

    Raises:
        RunError: if the data are damaged.
    """
    try:
        return unpack(data, dictionary).decode().split("\n")
    except UnicodeDecodeError as error:
        raise RunError(f"the record of a run is damaged: the turns of a match are no text ({error})") from error


def pack(data: bytes, dictionary: bytes = b"") -> bytes:
    """Packs bytes.

    Raises:
        RunError: if there are more than ``LARGEST``.
    """
    if len(data) > LARGEST:
        raise RunError(f"expected at most {LARGEST >> 20} MiB to be packed together, got {len(data)} bytes")
    packer = zlib.compressobj(_LEVEL, zdict=dictionary) if dictionary else zlib.compressobj(_LEVEL)
    return packer.compress(data) + packer.flush()


def unpack(data: bytes, dictionary: bytes = b"") -> bytes:
    """Returns what ``pack`` packed with the same dictionary.

    Raises:
        RunError: if the data are damaged.
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
