"""The commands of the shell: each one reads what it is called with, and prints."""

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from errno import EBUSY, EEXIST, EISDIR, ENOENT, ENOTDIR
from itertools import groupby
from posixpath import basename, dirname, join
from typing import NamedTuple

from llmarena_envs.simulation.engines.file_tree import MAX_SIZE, FileTree, failure

HOME = "/home/user"
MAX_PRINTED = 5 * MAX_SIZE
"""Characters that a command prints."""
_NUMBER = re.compile(r"\s*+(-?+(?:\d++(?:\.\d*+)?+|\.\d++))", re.ASCII)


class _UsageError(Exception):
    """A command called in a way that it does not know; the text is what it prints behind its name."""


@dataclass
class Call:
    """One call of a command, and what it prints.

    Attributes:
        name: the command.
        tree: the files.
        folder: the current folder, which ``cd`` changes.
        words: what stands behind the name, without options.
        options: the options that were given; the value of those that take one, else ``""``.
        given: what comes through the pipe, empty without one.
        printed: pieces of the output.
        errors: error lines.
        room: characters that may still be printed.
    """

    name: str
    tree: FileTree
    folder: str
    words: list[str]
    options: dict[str, str]
    given: str
    printed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    room: int = MAX_PRINTED

    def print(self, line: str) -> None:
        """Prints a line."""
        self.room -= len(line) + 1
        if self.room < 0:
            raise _UsageError("output too long")
        self.printed.append(f"{line}\n")

    def fail(self, text: str) -> None:
        """Prints an error line."""
        self.errors.append(f"{self.name}: {text}")

    def path(self, word: str) -> str:
        """Returns the absolute path that a word names."""
        return self.tree.resolve(self.folder, word)

    def each(self, words: list[str], act: Callable[[str], None]) -> bool:
        """Acts on words one after the other; what fails gets its error line. Returns whether nothing failed."""
        before = len(self.errors)
        for word in words:
            try:
                act(word)
            except OSError as error:
                self.fail(f"{word}: {error.strerror}")
        return len(self.errors) == before

    def sources(self, words: list[str]) -> Iterator[tuple[str, list[str]]]:
        """Yields names and lines of the files that can be read, or of the pipe if no file is named."""
        if not words:
            yield "", lines_of(self.given)
        for word in words:
            try:
                text = self.tree.read(self.path(word))
            except OSError as error:
                self.fail(f"{word}: {error.strerror}")
            else:
                yield word, lines_of(text)

    def count(self, option: str, default: int) -> int:
        """Returns the number that an option gives."""
        value = self.options.get(option, str(default))
        if not re.fullmatch("[0-9]{1,6}", value):
            raise _UsageError(f"{value}: invalid number")
        return int(value)


def lines_of(text: str) -> list[str]:
    """Returns the lines of a text, which is empty or ends with a line feed, as all that commands print."""
    return text.split("\n")[:-1]


def pwd(call: Call) -> bool:
    """Prints the current folder."""
    call.print(call.folder)
    return True


def cd(call: Call) -> bool:
    """Changes the current folder; without a word it goes home."""
    if len(call.words) > 1:
        raise _UsageError("too many arguments")

    def enter(word: str) -> None:
        path = call.path(word)
        call.tree.check_folder(path)
        call.folder = path

    return call.each(call.words or [HOME], enter)


def ls(call: Call) -> bool:
    """Lists files, then folders: one name a line; several words get titles. Names that begin with a dot need ``-a``."""
    files: list[str] = []
    folders: list[str] = []

    def sort_out(word: str) -> None:
        path = call.path(word)
        if path not in call.tree.entries:
            raise failure(ENOENT)
        (folders if call.tree.is_folder(path) else files).append(word)

    good = call.each(call.words or ["."], sort_out)
    for word in sorted(files):
        call.print(word)
    for place, word in enumerate(sorted(folders)):
        if len(call.words) > 1:
            if place or files:
                call.print("")
            call.print(f"{word}:")
        for name in call.tree.names(call.path(word)):
            if "a" in call.options or not name.startswith("."):
                call.print(name)
    return good


def cat(call: Call) -> bool:
    """Prints files one after the other."""
    for _, lines in call.sources(call.words):
        for line in lines:
            call.print(line)
    return not call.errors


def echo(call: Call) -> bool:
    """Prints its words."""
    call.print(" ".join(call.words))
    return True


def mkdir(call: Call) -> bool:
    """Makes folders; ``-p`` also those above, and none that is there already is an error."""

    def make(word: str) -> None:
        if "p" not in call.options:
            call.tree.make_folder(call.path(word))
            return
        place = "/" if word.startswith("/") else call.folder
        for name in word.split("/"):
            place = call.tree.resolve(place, name or ".")
            if place not in call.tree.entries:
                call.tree.make_folder(place)
            elif not call.tree.is_folder(place):
                raise failure(EEXIST)

    return call.each(_some(call), make)


def touch(call: Call) -> bool:
    """Makes empty files where nothing is."""

    def make(word: str) -> None:
        path = call.path(word)
        if path not in call.tree.entries:
            call.tree.write(path, "")

    return call.each(_some(call), make)


def rm(call: Call) -> bool:
    """Removes files; ``-r`` folders with all they hold; ``-f`` makes nothing of what is not there."""

    def remove(word: str) -> None:
        try:
            path = _existing(call, word)
        except OSError as error:
            if "f" in call.options and error.errno in (ENOENT, ENOTDIR):
                return
            raise
        if call.tree.is_folder(path) and "r" not in call.options:
            raise failure(EISDIR)
        _check_free(call, path)
        call.tree.remove(path)

    return call.each(_some(call), remove)


def cp(call: Call) -> bool:
    """Copies files, with ``-r`` folders, to a new name or into a folder."""

    def copy(word: str, target: str) -> None:
        path = _existing(call, word)
        if call.tree.is_folder(path) and "r" not in call.options:
            raise failure(EISDIR)
        call.tree.copy(path, target)

    return _transfer(call, copy)


def mv(call: Call) -> bool:
    """Moves files and folders to a new name or into a folder."""

    def move(word: str, target: str) -> None:
        path = _existing(call, word)
        _check_free(call, path)
        call.tree.move(path, target)

    return _transfer(call, move)


def head(call: Call) -> bool:
    """Prints the first lines, ten unless ``-n`` says how many."""
    count = call.count("n", 10)
    return _titled(call, lambda lines: lines[:count])


def tail(call: Call) -> bool:
    """Prints the last lines, ten unless ``-n`` says how many."""
    count = call.count("n", 10)
    return _titled(call, lambda lines: lines[max(0, len(lines) - count) :])


def wc(call: Call) -> bool:
    """Prints numbers of lines, words and bytes, in this order, or those that are asked for, and the name."""
    asked = [place for place, option in enumerate("lwc") if option in call.options] or [0, 1, 2]
    rows = []
    for word, lines in call.sources(call.words):
        text = "".join(f"{line}\n" for line in lines)
        rows.append(((len(lines), len(text.split()), len(text.encode())), word))
    if len(call.words) > 1:
        sums = tuple(sum(numbers[place] for numbers, _ in rows) for place in range(3))
        rows.append(((sums[0], sums[1], sums[2]), "total"))
    for numbers, word in rows:
        call.print(" ".join([*(str(numbers[place]) for place in asked), *filter(None, [word])]))
    return not call.errors


def grep(call: Call) -> bool:
    """Prints the lines that hold a text; ``-i`` in either case, ``-v`` those that do not, ``-n`` with numbers, ``-c`` how many.

    ``-r`` searches all files below a folder. With several files, or ``-r``, the name and a colon stand before each line.
    """
    if not call.words:
        raise _UsageError("missing operand")
    wanted, *words = call.words
    ignore, titled = "i" in call.options, len(words) > 1 or "r" in call.options
    if "r" in call.options:
        words = [word for named in words or ["."] for word in _files(call, named)]
    found = False
    for word, lines in call.sources(words):
        numbered = [
            (number, line)
            for number, line in enumerate(lines, 1)
            if ((wanted.lower() in line.lower()) if ignore else (wanted in line)) != ("v" in call.options)
        ]
        found |= bool(numbered)
        title = f"{word}:" if titled else ""
        if "c" in call.options:
            call.print(f"{title}{len(numbered)}")
            continue
        for number, line in numbered:
            call.print(f"{title}{number}:{line}" if "n" in call.options else f"{title}{line}")
    return found and not call.errors


def sort(call: Call) -> bool:
    """Sorts lines by code points; ``-n`` by the number they begin with, ``-r`` downwards, ``-u`` one of those that are equal."""
    lines = [line for _, found in call.sources(call.words) for line in found]
    down = "r" in call.options

    def key(line: str) -> str | Decimal:
        if "n" not in call.options:
            return line
        match = _NUMBER.match(line)
        return Decimal(match[1]) if match else Decimal(0)

    if "u" in call.options:
        lines = [next(group) for _, group in groupby(sorted(lines, key=key, reverse=down), key)]
    else:
        lines.sort(key=lambda line: (key(line), line), reverse=down)
    for line in lines:
        call.print(line)
    return not call.errors


def uniq(call: Call) -> bool:
    """Prints one of lines in sequence that are the same; ``-c`` with their number, ``-d`` only if there are several."""
    if len(call.words) > 1:
        raise _UsageError("too many arguments")
    for _, lines in call.sources(call.words):
        for line, group in groupby(lines):
            count = sum(1 for _ in group)
            if count > 1 or "d" not in call.options:
                call.print(f"{count} {line}" if "c" in call.options else line)
    return not call.errors


def find(call: Call) -> bool:
    """Prints what is below folders, by ``-name`` with ``*`` and ``?``, by ``-type f`` or ``-type d``."""
    starts, wanted, kind = [], "*", ""
    words = iter(call.words)
    for word in words:
        if word in ("-name", "-type"):
            value = next(words, None)
            if value is None or (word == "-type" and value not in ("f", "d")):
                raise _UsageError(f"{word}: invalid argument")
            wanted, kind = (value, kind) if word == "-name" else (wanted, value)
        elif word.startswith("-"):
            raise _UsageError(f"{word}: invalid option")
        else:
            starts.append(word)
    matches = re.compile(fnmatch.translate(wanted.replace("[", "[[]"))).match

    def show(start: str) -> None:
        top = _existing(call, start)
        for path in call.tree.below(top):
            shown = start if path == top else join(start, path[len(top) :].lstrip("/"))
            is_folder = call.tree.is_folder(path)
            if matches(basename(shown.rstrip("/")) or "/") and kind in ("", "d" if is_folder else "f"):
                call.print(shown)

    return call.each(starts or ["."], show)


class Command(NamedTuple):
    """A command.

    Attributes:
        run: prints, and returns whether all went well.
        flags: its options without values.
        values: its options with values.
        reads_options: whether words that begin with ``-`` are options.
    """

    run: Callable[[Call], bool]
    flags: str = ""
    values: str = ""
    reads_options: bool = True


COMMANDS: Mapping[str, Command] = {
    "pwd": Command(pwd),
    "cd": Command(cd),
    "ls": Command(ls, "a"),
    "cat": Command(cat),
    "echo": Command(echo, reads_options=False),
    "mkdir": Command(mkdir, "p"),
    "touch": Command(touch),
    "rm": Command(rm, "rf"),
    "cp": Command(cp, "r"),
    "mv": Command(mv),
    "head": Command(head, values="n"),
    "tail": Command(tail, values="n"),
    "wc": Command(wc, "lwc"),
    "grep": Command(grep, "ivncr"),
    "sort": Command(sort, "rnu"),
    "uniq": Command(uniq, "cd"),
    "find": Command(find, reads_options=False),
}


def run_command(name: str, words: list[str], tree: FileTree, folder: str, given: str) -> tuple[Call, bool]:
    """Runs a command.

    Returns:
        The call with what it printed, and whether all went well.
    """
    command = COMMANDS[name]
    call = Call(name, tree, folder, words, {}, given)
    try:
        if command.reads_options:
            _separate_options(call, command)
        return call, command.run(call)
    except _UsageError as error:
        call.printed.clear()
        call.fail(str(error))
        return call, False


def _separate_options(call: Call, command: Command) -> None:
    """Takes the options out of the words, wherever they stand before ``--``."""
    words, rest = iter(call.words), list[str]()
    for word in words:
        if word == "--":
            rest += words
        elif not word.startswith("-") or word == "-":
            rest.append(word)
        else:
            for place, letter in enumerate(word[1:], 2):
                if letter in command.values:
                    value = word[place:] or next(words, None)
                    if value is None:
                        raise _UsageError(f"-{letter}: missing number")
                    call.options[letter] = value
                    break
                if letter not in command.flags:
                    raise _UsageError(f"-{letter}: invalid option")
                call.options[letter] = ""
    call.words = rest


def _some(call: Call) -> list[str]:
    """Returns the words, of which there must be one."""
    if not call.words:
        raise _UsageError("missing operand")
    return call.words


def _existing(call: Call, word: str) -> str:
    """Returns the path of something that is there."""
    path = call.path(word)
    if path not in call.tree.entries:
        raise failure(ENOENT)
    return path


def _check_free(call: Call, path: str) -> None:
    """Raises if the current folder is a path or below it."""
    if f"{call.folder}/".startswith(path.rstrip("/") + "/"):
        raise failure(EBUSY)


def _transfer(call: Call, act: Callable[[str, str], None]) -> bool:
    """Copies or moves all words but the last to the last."""
    if len(call.words) < 2:
        raise _UsageError("missing operand")
    *words, last = call.words
    try:
        target = call.path(last)
        if len(words) > 1:
            call.tree.check_folder(target)
        elif target not in call.tree.entries:
            call.tree.check_folder(dirname(target))
    except OSError as error:
        raise _UsageError(f"{last}: {error.strerror}") from None

    def transfer(word: str) -> None:
        into = call.tree.is_folder(target)
        act(word, join(target, basename(call.path(word))) if into else target)

    return call.each(words, transfer)


def _titled(call: Call, part: Callable[[list[str]], list[str]]) -> bool:
    """Prints a part of each file, with titles if several files are named."""
    for word, lines in call.sources(call.words):
        if len(call.words) > 1:
            if call.printed:
                call.print("")
            call.print(f"==> {word} <==")
        for line in part(lines):
            call.print(line)
    return not call.errors


def _files(call: Call, word: str) -> list[str]:
    """Returns the files below a folder, or the word itself."""
    try:
        top = call.path(word)
    except OSError:
        return [word]
    if not call.tree.is_folder(top):
        return [word]
    return [join(word, path[len(top) :].lstrip("/")) for path in call.tree.below(top) if not call.tree.is_folder(path)]
