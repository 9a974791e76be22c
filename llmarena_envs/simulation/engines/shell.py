"""A shell over a tree of files in memory; no real shell has any part in it."""

from typing import ClassVar, NamedTuple

from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault
from llmarena_envs.simulation.engines.file_tree import FileTree
from llmarena_envs.simulation.engines.shell_commands import COMMANDS, HOME, run_command

MAX_COMMANDS = 20
"""Of one request."""
MAX_WORDS = 50
"""Of one command."""

FIRST_FILES = {
    "/home/user/notes.txt": "buy stamps\ncall the plumber\nBuy paint\nreturn the ladder\n",
    "/home/user/.profile": "editor=nano\n",
    "/home/user/garden/beds.txt": "beans 12\nchard 7\npeas 12\nkale 30\nbeans 4\n",
    "/home/user/garden/log.txt": "monday rain\ntuesday sun\nwednesday sun\nthursday rain\nfriday sun\n",
    "/etc/hosts": "127.0.0.1 localhost\n10.0.0.5 printer\n",
}
FIRST_FOLDERS = ("/etc", "/home", "/home/user", "/home/user/garden", "/tmp")


class Token(NamedTuple):
    """A piece of a request: a word, or an operator."""

    text: str
    is_operator: bool


class Step(NamedTuple):
    """One command of a pipeline.

    Attributes:
        words: the command and its words.
        file: where its output goes, empty if that is the screen or the next command.
        appends: whether the output is put behind what the file holds.
    """

    words: list[str]
    file: str
    appends: bool


class _SyntaxError(Exception):
    """A request that no shell reads."""


class Shell(Engine):
    """Commands over files in memory: pipes, ``>``, ``>>``, ``;``, ``&&``, ``||`` and quotes.

    Of each pipeline the answer holds first the error lines, then the output. A request that cannot be read as a whole is
    answered with ``sh: syntax error``, and nothing of it is run.
    """

    name: ClassVar[str] = "shell"

    def __init__(self) -> None:
        self._tree, self._folder = FileTree(), HOME
        for folder in FIRST_FOLDERS:
            self._tree.make_folder(folder)
        for path, text in FIRST_FILES.items():
            self._tree.write(path, text)

    def respond(self, request: str) -> str:
        """Returns what the commands print."""
        if unreadable := fault(request):
            return f"sh: {unreadable}"
        try:
            pipelines = _parse(_tokens(request))
        except _SyntaxError as error:
            return f"sh: {error}"
        printed, good = "", True
        for connector, steps in pipelines:
            if connector == ";" or good == (connector == "&&"):
                text, good = self._run(steps)
                printed += text
        return cut_output(printed.removesuffix("\n"))

    def _run(self, steps: list[Step]) -> tuple[str, bool]:
        """Runs a pipeline; returns what the screen shows, and whether the last command went well."""
        errors: list[str] = []
        output, good = "", True
        for step in steps:
            name, *words = step.words
            given, output, good = output, "", False
            try:
                target = self._open(step)
            except OSError as error:
                errors.append(f"sh: {step.file}: {error.strerror}")
                continue
            if name not in COMMANDS:
                errors.append(f"sh: {name}: command not found")
                continue
            call, good = run_command(name, words, self._tree, self._folder, given)
            if len(steps) == 1:  # in a pipeline every command has a current folder of its own
                self._folder = call.folder
            errors += call.errors
            output = "".join(call.printed)
            if target:
                try:
                    self._append(target, output)
                except OSError as error:
                    errors.append(f"sh: {step.file}: {error.strerror}")
                    good = False
                output = ""
        return "".join(f"{line}\n" for line in errors) + output, good

    def _open(self, step: Step) -> str:
        """Makes the file for a command's output, empty unless it is appended to; returns its path."""
        if not step.file:
            return ""
        path = self._tree.resolve(self._folder, step.file)
        if step.appends:
            self._append(path, "")
        else:
            self._tree.write(path, "")
        return path

    def _append(self, path: str, text: str) -> None:
        kept = self._tree.read(path) if path in self._tree.entries else ""
        self._tree.write(path, kept + text)

    def state(self) -> str:
        """Returns the current folder, then every folder and every file with its lines."""
        lines = [f"folder {self._folder}"]
        for path in self._tree.below("/"):
            text = self._tree.entries[path]
            lines.append(path.rstrip("/") + "/" if text is None else path)
            lines += [f"  {line}" for line in (text or "").split("\n")[:-1]]
        return "\n".join(lines)


def _tokens(request: str) -> list[Token]:
    """Splits a request into words and operators; a new line is a ``;``."""
    tokens: list[Token] = []
    word: str | None = None
    place = 0

    def take(length: int) -> str:
        nonlocal place
        place += length
        return request[place - length : place]

    while place < len(request):
        character = request[place]
        if character in " \t\r\n;|&<>()":
            if word is not None:
                tokens.append(Token(word, False))
                word = None
            if character in " \t\r":
                place += 1
            elif character == "\n":
                place += 1
                if tokens and not tokens[-1].is_operator:
                    tokens.append(Token(";", True))
            else:
                pair = request[place : place + 2]
                tokens.append(Token(take(2 if pair in ("&&", "||", ">>") else 1), True))
        elif character in "'\"":
            place += 1
            word = word or ""
            while place < len(request) and request[place] != character:
                is_escape = (
                    character == '"' and request[place] == "\\" and request[place + 1 : place + 2] in ('"', "\\")
                )
                word += take(2)[1] if is_escape else take(1)
            if place == len(request):
                raise _SyntaxError("syntax error")
            place += 1
        elif character == "\\":
            if place + 1 == len(request):
                raise _SyntaxError("syntax error")
            word = (word or "") + take(2)[1]
        else:
            word = (word or "") + take(1)
    if word is not None:
        tokens.append(Token(word, False))
    return tokens


def _parse(tokens: list[Token]) -> list[tuple[str, list[Step]]]:
    """Returns pipelines, each with the operator before it, ``;`` for the first."""
    if len(tokens) > 1 and tokens[-1] == Token(";", True):
        tokens = tokens[:-1]
    if not tokens:
        return []
    pipelines = [
        (connector, [_step(command) for _, command in _split(pipeline, ("|",))])
        for connector, pipeline in _split(tokens, (";", "&&", "||"))
    ]
    if sum(len(steps) for _, steps in pipelines) > MAX_COMMANDS:
        raise _SyntaxError(f"more than {MAX_COMMANDS} commands")
    return pipelines


def _split(tokens: list[Token], operators: tuple[str, ...]) -> list[tuple[str, list[Token]]]:
    """Splits at operators; each part comes with the one before it, the first with ``;``."""
    parts: list[tuple[str, list[Token]]] = [(";", [])]
    for token in tokens:
        if token.is_operator and token.text in operators:
            parts.append((token.text, []))
        else:
            parts[-1][1].append(token)
    return parts


def _step(tokens: list[Token]) -> Step:
    """Reads one command and where its output goes."""
    words: list[str] = []
    file, appends = "", False
    rest = iter(tokens)
    for token in rest:
        if not token.is_operator:
            words.append(token.text)
            continue
        target = next(rest, None)
        if token.text not in (">", ">>") or file or target is None or target.is_operator or not target.text:
            raise _SyntaxError("syntax error")
        file, appends = target.text, token.text == ">>"
    if not words:
        raise _SyntaxError("syntax error")
    if len(words) > MAX_WORDS:
        raise _SyntaxError(f"more than {MAX_WORDS} words")
    return Step(words, file, appends)
