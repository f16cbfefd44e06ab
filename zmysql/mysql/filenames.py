"""Names of schemas and tables from the names of their files: MySQL's character set `filename`.

Letters of ASCII, digits and _ stand for themselves. A letter of an alphabet that has small and capital ones is @ and
two characters, a capital one with a capital there; any other character is @ and four hexadecimal digits. (MySQL manual,
Mapping of Identifiers to File Names; the codes are as MariaDB 10.11 gives them.)
"""

from __future__ import annotations

import re
from itertools import product
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CODE = re.compile(r"@(?:([0-9a-f]{4})|([0-9A-Za-z]{2}))")
_G_TO_Z = ascii_lowercase[6:]
# Runs of small letters in the order of their codes: the number of the first code, the first letter, how many letters,
# and how far apart. Those of rare letters (phonetic ones, ancient Greek) are left out: their codes stay as they are.
_DIGIT_FIRST = (
    (0, 0xE0, 23, 1),
    (23, 0xDF, 1, 1),
    (24, 0xF8, 8, 1),
    (32, 0x101, 28, 2),
    (60, 0x138, 9, 2),
    (69, 0x149, 24, 2),
    (93, 0x17A, 3, 2),
    (120, 0x3AC, 35, 1),
)
_DIGIT_LAST = (
    (0, 0x430, 48, 1),
    (48, 0x461, 17, 2),
    (66, 0x48B, 27, 2),
    (94, 0x4C2, 7, 2),
    (102, 0x4D1, 21, 2),
    (129, 0x501, 8, 2),
    (141, 0x561, 37, 1),
)
# Capitals that have the codes of other forms of their small letters.
_GREEK = {"7W": "Β", "7X": "Θ", "8W": "Κ", "8I": "Π", "8Y": "Σ", "8H": "Φ"}  # noqa: RUF001 - Greek they are
_LETTERS_ONLY = ((220, 0x1E01, 75, 2), (305, 0x1EA1, 45, 2))


def _codes() -> Iterator[tuple[str, str]]:
    """Yield each code of two characters with its letter."""
    for runs, codes in (
        (_DIGIT_FIRST, [digit + letter for digit, letter in product(digits, _G_TO_Z)]),
        (_DIGIT_LAST, [letter + digit for digit, letter in product(digits, _G_TO_Z)]),
        (_LETTERS_ONLY, [first + second for second, first in product(ascii_lowercase, _G_TO_Z)]),
    ):
        for start, letter, count, step in runs:
            for code, number in zip(codes[start:], range(letter, letter + count * step, step), strict=False):
                small, capital = chr(number), chr(number).upper()
                yield code, small
                # The s at the end of a Greek word, and such, share a capital letter with another.
                if capital != small == capital.lower():
                    yield code.title(), capital
    yield from _GREEK.items()


_LETTERS = dict(_codes())


def decoded(name: str) -> str:
    """Give the name of the schema or table whose directory or file, without its ending, has this name."""
    return _CODE.sub(lambda code: chr(int(code[1], 16)) if code[1] else _LETTERS.get(code[2], code[0]), name)
