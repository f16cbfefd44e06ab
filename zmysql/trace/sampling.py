"""Which records dscripts/blkaccess*.d keep when they sample: the same hash in Python.

SHARDS (Waldspurger et al., FAST '15): records are chosen by a hash of their address, so that all reads of a record are
kept, or none; the distances between the reads of a record then shrink by the rate.
"""

from __future__ import annotations

from zmysql.errors import UsageError

_WORD = (1 << 64) - 1
# Odd, so that no two values of a number give the same product: 2^64 / golden ratio.
_SPREAD = 0x9E3779B97F4A7C15
# MurmurHash3's finaliser. With one multiplication, strides of 2^20 are kept unevenly.
_MIX = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
_SHIFT = 33
# The macro argument $3 is a C int in D.
_LARGEST_RATE = (1 << 31) - 1


def spatial_hash(objset: int, number: int, blkid: int) -> int:
    """Give the 64-bit hash of a record's address: the dataset's objset id, the file's object number, and its blkid."""
    mixed = ((objset * _SPREAD + number) * _SPREAD + blkid) & _WORD
    for factor in _MIX:
        mixed = (mixed ^ mixed >> _SHIFT) * factor & _WORD
    return mixed ^ mixed >> _SHIFT


def is_kept(objset: int, number: int, blkid: int, rate: int) -> bool:
    """Say whether a script with RATE `rate` keeps the reads of a record: 1 record of `rate` is."""
    return spatial_hash(objset, number, blkid) % rate == 0


def parse_rate(text: str) -> int:
    """Give the N of a sampling rate 1/N, from 1 to 2147483647.

    Raises UsageError on anything else.
    """
    kept, slash, rate = text.partition("/")
    if kept != "1" or not slash or not (rate.isascii() and rate.isdigit() and len(rate) <= len(str(_LARGEST_RATE))):
        rate = "0"
    if not 1 <= int(rate) <= _LARGEST_RATE:
        raise UsageError(f"{text!r} is no sampling rate: write 1/N with a whole N from 1, such as 1/64")
    return int(rate)
