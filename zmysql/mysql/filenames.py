"""Names of schemas and tables from the names of their files: MySQL's character set `filename`."""

from __future__ import annotations

import re

_CODE = re.compile(r"@([0-9a-f]{4})")


def decoded(name: str) -> str:
    """Give the name of the schema or table whose file or directory has this name, without its ending.

    Letters, digits and _ stand for themselves, and @ with four hexadecimal digits for another character.
    """
    return _CODE.sub(lambda code: chr(int(code[1], 16)), name)
