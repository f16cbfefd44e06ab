"""Templates: one TOML file a layout, zmysql's own by name and a person's own by path."""

from __future__ import annotations

import os
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, did_you_mean, shown
from zmysql.layout.settings import override, parse_settings
from zmysql.layout.template_check import Checker
from zmysql.layout.toml_lines import key_lines
from zmysql.layout.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.layout.model import Template

_SUFFIX = ".toml"


def template_names() -> tuple[str, ...]:
    """Give the names of the templates that come with zmysql."""
    found = (entry.name for entry in files("zmysql.templates").iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


def load_template(name: str, settings: Iterable[str] = ()) -> Template:
    """Give a template with what a person sets in it, such as data.recordsize=32K.

    A word is one of zmysql's own; with a slash, or .toml at its end, it is the path of a person's own, which is then
    called by its absolute path. Raises UsageError for a template that isn't there or can't be read, and for all that is
    wrong in it or in the settings.
    """
    if "/" in name or name.endswith(_SUFFIX):
        path = Path(os.path.abspath(name))  # noqa: PTH100 - resolve() would follow a link that may point elsewhere later
        _check_path(path)
        return parse_template(str(path), toml_text(path, f"template {path}", "template"), settings)
    names = template_names()
    if name not in names:
        raise UsageError(
            f"there is no template {shown(name)}{did_you_mean(name, names)}; there are {', '.join(names)}, "
            "and one of your own goes by its path, such as ./mine.toml"
        )
    return parse_template(name, (files("zmysql.templates") / f"{name}{_SUFFIX}").read_text(encoding="utf-8"), settings)


def parse_template(name: str, text: str, settings: Iterable[str] = ()) -> Template:
    """Give the template in a text, with what a person sets in it.

    Raises UsageError that names the first wrong key or value with its line, or the setting, and the nearest right word.
    """
    try:
        content = tomllib.loads(text)
        lines = key_lines(text)
        overrides = parse_settings(settings, content)
        return Checker(name, lines, overrides).template(override(content, overrides), text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"template {name}: {error}") from None
    except RecursionError:
        raise UsageError(f"template {name}: it is nested too deeply") from None
    except ValueError as error:  # from tomllib, for a number of thousands of digits
        raise UsageError(f"template {name}: {error}") from None


def _check_path(path: Path) -> None:
    """Refuse pipes, too: the pool remembers its template by path, and compares itself with it later."""
    if not str(path).isprintable():
        raise UsageError(f"template {shown(str(path))}: the path has characters that no terminal shows; rename it")
    try:
        is_other = not path.is_file() and path.exists()
    except OSError as error:
        raise UsageError(f"template {path}: {error.strerror}") from None
    if is_other:
        raise UsageError(f"template {path}: it is {'a directory' if path.is_dir() else 'no regular file'}")
