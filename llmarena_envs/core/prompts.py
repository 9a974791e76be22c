"""Prompt templates from TOML files, one file a language, rendered strictly."""

import tomllib
from importlib import resources
from string import Formatter

from llmarena_envs.core.options import check_choice


class PromptError(ValueError):
    """A prompt file that is malformed, or a template whose placeholders do not fit what the game supplies."""


class Template:
    """One text with ``{placeholder}`` fields; literal braces are written ``{{`` and ``}}``.

    Args:
        source: the template.
        where: name for error messages, e.g. ``tictactoe/en.toml [observation]``.
    """

    def __init__(self, source: str, where: str) -> None:
        self.source = source
        self.where = where
        try:
            parts = list(Formatter().parse(source))
        except ValueError as error:
            raise PromptError(f"{where}: {error}") from error
        names = [name for _, name, _, _ in parts if name is not None]
        bad = [name for name in names if not name.isidentifier()]
        if bad or any(spec or conversion for _, _, spec, conversion in parts):
            raise PromptError(f"{where}: placeholders are plain names such as {{board}}, got {bad or source!r}")
        self.placeholders = frozenset(names)
        # The % operator fills in names about twice as fast as str.format.
        self._format = "".join(
            [text.replace("%", "%%") + (f"%({name})s" if name else "") for text, name, _, _ in parts]
        )

    def render(self, **fields: object) -> str:
        """Fills in the placeholders.

        Raises:
            PromptError: if the template names a placeholder that ``fields`` lacks.
        """
        try:
            return self._format % fields
        except KeyError as error:
            raise PromptError(
                f"{self.where}: unknown placeholder {{{error.args[0]}}}; this text may use {sorted(fields)}"
            ) from None


class Prompts:
    """The templates of one game in one language.

    Args:
        package: the package that holds ``prompts/<language>.toml``, e.g. ``llmarena_envs.tictactoe``.
        language: file name without its ending.

    Raises:
        OptionError: if there is no file for the language.
        PromptError: if the file holds anything but texts.
    """

    def __init__(self, package: str, language: str) -> None:
        folder = resources.files(package) / "prompts"
        check_choice("language", language, self.languages(package))
        where = f"{package}/prompts/{language}.toml"
        table = tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8"))
        self._where = where
        self._templates: dict[str, Template] = {}
        for name, text in table.items():
            if not isinstance(text, str):
                raise PromptError(f"{where} [{name}]: expected a text, got {type(text).__name__}")
            self._templates[name] = Template(text.strip("\n"), f"{where} [{name}]")

    @staticmethod
    def languages(package: str) -> list[str]:
        """Returns the languages that a package has texts in."""
        folder = resources.files(package) / "prompts"
        return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))

    def __contains__(self, name: str) -> bool:
        return name in self._templates

    def __getitem__(self, name: str) -> Template:
        try:
            return self._templates[name]
        except KeyError:
            raise PromptError(f"{self._where}: no text {name!r}; it has {sorted(self._templates)}") from None

    def joined(self, *names: str) -> Template:
        """Returns one template made of several, each below the one before: one rendering costs less than several."""
        return Template("\n".join([self[name].source for name in names]), f"{self._where} [{', '.join(names)}]")

    def render(self, name: str, **fields: object) -> str:
        """Renders the template called ``name``; see ``Template.render``."""
        return self[name].render(**fields)
