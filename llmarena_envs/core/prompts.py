"""Prompt templates from TOML files, one file per language, or from a dict; rendered strictly."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib import resources
from importlib.resources.abc import Traversable
from operator import itemgetter
from pathlib import Path
from string import Formatter
from typing import Any, Self

from llmarena_envs.core.errors import ArenaError
from llmarena_envs.core.options import check_choice

DEFAULT_LANGUAGE = "en"
"""The language whose file defines the texts and their placeholders."""

_UNUSED = "unused"


class PromptError(ArenaError, ValueError):
    """A malformed or missing text, or a template whose placeholders do not match the fields from the game."""


class Template:
    """One text with ``{placeholder}`` fields; literal braces are written ``{{`` and ``}}``.

    A word that agrees with a number is written in both forms: in ``{cards} {cards:card|cards}`` the second field is
    ``card`` if the field ``cards`` is 1, else ``cards``.

    Args:
        source: the template.
        where: name for error messages, e.g. ``tictactoe/en.toml [observation]``.

    Attributes:
        placeholders: the names of the fields.
    """

    def __init__(self, source: str, where: str) -> None:
        self.source = source
        self.where = where
        try:
            parts = list(Formatter().parse(source))
        except ValueError as error:
            raise PromptError(f"{where}: {error}") from error
        self.placeholders = frozenset(name for _, name, _, _ in parts if name is not None)
        self._words: list[tuple[str, str, str, str]] = []
        keys: list[str] = []
        self._format = ""
        for text, name, forms, conversion in parts:
            self._format += text.replace("%", "%%")
            if name is None:
                continue
            key = name
            if forms:
                one, _, many = forms.partition("|")
                key = f"{name}:{len(self._words)}"
                self._words.append((key, name, one, many))
            if not name.isidentifier() or conversion or (forms and (forms.count("|") != 1 or "{" in forms)):
                raise PromptError(
                    f"{where}: expected plain names such as {{board}}, or a word in singular and plural such as "
                    f"{{cards:card|cards}}, got {name!r} in {source!r}"
                )
            keys.append(key)
            self._format += "%s"
        # The % operator is about twice as fast as str.format, and faster with a tuple of values than with names.
        self._keys = keys
        self._values = _row_of(keys)

    def render(self, **fields: object) -> str:
        """Fills in the placeholders.

        Raises:
            PromptError: if the template names a placeholder that ``fields`` lacks.
        """
        try:
            if not self._words:
                return self._format % self._values(fields)
            words = {key: one if fields[name] == 1 else many for key, name, one, many in self._words}
            return self._format % self._values(fields | words)
        except KeyError as error:
            raise PromptError(
                f"{self.where}: unknown placeholder {{{error.args[0]}}}; this text may use {sorted(fields)}"
            ) from None

    def by_position(self, *names: str) -> Callable[..., str]:
        """Returns a function that renders the template from the values of ``names``, in this order.

        About twice as fast as ``render``; for texts of every turn.

        Raises:
            PromptError: if the template has a placeholder that is not in ``names``, or a word in singular and plural.
        """
        unknown = sorted(set(self._keys) - set(names))
        if unknown:
            raise PromptError(
                f"{self.where}: expected plain placeholders out of {sorted(names)} only, got {{{unknown[0]}}}"
            )
        if tuple(self._keys) == names:
            return partial(_fill, self._format)
        return partial(_pick_and_fill, self._format, _row_of([names.index(key) for key in self._keys]))


def _fill(template: str, *values: object) -> str:
    return template % values


def _pick_and_fill(template: str, pick: Callable[[Any], object], *values: object) -> str:
    return template % pick(values)


def _row_of(keys: Sequence[str] | Sequence[int]) -> Callable[[Any], object]:
    """Returns a function that gets the values of ``keys`` from a mapping or sequence, as a tuple."""
    return itemgetter(*keys) if len(keys) > 1 else partial(_row, keys)


def _row(keys: Sequence[Any], fields: Any) -> tuple[object, ...]:
    return tuple([fields[key] for key in keys])


class Prompts:
    """The templates of one game in one language.

    The files of all languages have the same texts with the same placeholders. If a text of one language does not need a
    placeholder of the others, the end of its file lists it::

        [unused]
        instruction = ["article"]

    Attributes:
        language: language of the texts.

    Args:
        package: the package with ``prompts/<language>.toml``, e.g. ``llmarena_envs.tictactoe``.
        language: file name without suffix.

    Raises:
        OptionError: if there is no file for the language.
        PromptError: if a file of the package contains anything but texts, or differs from the file of the default language
            (or else the first file) in the names or placeholders of its texts.
    """

    def __init__(self, package: str, language: str) -> None:
        languages = _load(package)
        check_choice("language", language, languages)
        self.language = language
        self._where = f"{package}/prompts/{language}.toml"
        self._templates = languages[language]

    @classmethod
    def from_texts(cls, texts: Mapping[str, str], where: str) -> Self:
        """Returns the templates of a dict, in the default language.

        Args:
            texts: the texts by name.
            where: file of the texts for error messages.

        Raises:
            PromptError: if a value is not a text or not a valid template.
        """
        prompts = cls.__new__(cls)
        prompts.language = DEFAULT_LANGUAGE
        prompts._where = Path(where).name
        prompts._templates = _templates(texts, prompts._where)
        return prompts

    @staticmethod
    def languages(package: str) -> list[str]:
        """Returns the languages of a package's prompt files."""
        return sorted(_load(package))

    def __contains__(self, name: str) -> bool:
        return name in self._templates

    def __getitem__(self, name: str) -> Template:
        try:
            return self._templates[name]
        except KeyError:
            similar = get_close_matches(name, self._templates, n=1)
            found = f"the nearest name is {similar[0]!r}" if similar else f"it has {sorted(self._templates)}"
            raise PromptError(f"{self._where}: no text {name!r}; {found}") from None

    def joined(self, *names: str) -> Template:
        """Returns one template of several, joined by line ends; rendering it once is faster."""
        return Template("\n".join([self[name].source for name in names]), f"{self._where} [{', '.join(names)}]")

    def render(self, name: str, **fields: object) -> str:
        """Renders the template called ``name``; see ``Template.render``."""
        return self[name].render(**fields)


@cache
def common_prompts(language: str) -> Prompts:
    """Returns the common texts of all games; in English if there is no common file of the language."""
    package = "llmarena_envs.core"
    return Prompts(package, language if language in Prompts.languages(package) else DEFAULT_LANGUAGE)


class _File:
    """A prompt file, read.

    Args:
        path: the file.
        where: its name for error messages.

    Attributes:
        templates: its texts by name.
        placeholders: placeholders of each text, the unused ones included.
    """

    def __init__(self, path: Traversable, where: str) -> None:
        self.where = where
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise PromptError(f"{where}: {error}") from error
        unused = table.pop(_UNUSED, {})
        self.templates = _templates(table, where)
        self.placeholders = {name: template.placeholders for name, template in self.templates.items()}
        self._leave_out(unused)

    def _leave_out(self, unused: Any) -> None:
        """Adds the placeholders of the table ``unused``; the texts named there must not use them."""
        if not isinstance(unused, Mapping):
            raise PromptError(f"{self.where} [{_UNUSED}]: expected a table of texts, got {type(unused).__name__}")
        for name, placeholders in unused.items():
            if not isinstance(placeholders, list) or not all(isinstance(each, str) for each in placeholders):
                raise PromptError(
                    f"{self.where} [{_UNUSED}] {name}: expected a list of placeholders, got {placeholders!r}"
                )
            if name not in self.templates:
                raise PromptError(f"{self.where} [{_UNUSED}] {name}: no such text; there are {sorted(self.templates)}")
            used = self.placeholders[name].intersection(placeholders)
            if used:
                raise PromptError(
                    f"{self.where} [{_UNUSED}] {name}: {_fields(used)} is used there; take it off the list"
                )
            self.placeholders[name] = self.placeholders[name].union(placeholders)

    def check_against(self, default: "_File") -> None:
        """Raises a ``PromptError`` unless both files have the same texts, each with the same placeholders."""
        for mine, other in ((self, default), (default, self)):
            missing = sorted(other.templates.keys() - mine.templates.keys())
            if missing:
                raise PromptError(f"{mine.where}: no text {missing[0]!r}, which {other.where} has")
        for name, expected in default.placeholders.items():
            found = self.placeholders[name]
            if expected - found:
                raise PromptError(
                    f"{self.where} [{name}]: {_fields(expected - found)} is missing, which {default.where} has; use it, or "
                    f"leave it out on purpose by naming it under [{_UNUSED}]"
                )
            if found - expected:
                raise PromptError(
                    f"{self.where} [{name}]: {_fields(found - expected)} is not in {default.where}, which has "
                    f"{_fields(expected) or 'no placeholders'}"
                )


def _templates(texts: Mapping[str, Any], where: str) -> dict[str, Template]:
    templates = {}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise PromptError(f"{where} [{name}]: expected a text, got {type(text).__name__}")
        templates[name] = Template(text.strip("\n"), f"{where} [{name}]")
    return templates


def _fields(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


@cache  # once per package: thousands of environments are made
def _load(package: str) -> dict[str, dict[str, Template]]:
    """Returns the templates of all languages of a package, checked against each other."""
    files = {}
    folder = resources.files(package) / "prompts"
    found = folder.iterdir() if folder.is_dir() else ()
    for path in sorted(found, key=lambda path: path.name):
        if path.name.endswith(".toml"):
            files[path.name.removesuffix(".toml")] = _File(path, f"{package}/prompts/{path.name}")
    default = files.get(DEFAULT_LANGUAGE) or next(iter(files.values()), None)
    if default is None:
        raise PromptError(
            f"{package}: expected texts in prompts/{DEFAULT_LANGUAGE}.toml beside the package's modules, found none; an installed"
            " package must name them among its data, for setuptools by [tool.setuptools.package-data]"
        )
    for file in files.values():
        file.check_against(default)
    return {language: file.templates for language, file in files.items()}
