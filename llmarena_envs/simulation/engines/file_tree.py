"""A tree of folders and text files in memory."""

from errno import EBUSY, EEXIST, EINVAL, EISDIR, ENAMETOOLONG, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY
from posixpath import basename, dirname, join

MAX_ENTRIES = 200
MAX_SIZE = 20_000
"""Characters of all files and paths together."""
MAX_NAME = 100
MAX_PATH = 500

_REASONS = {
    EBUSY: "Device or resource busy",
    EEXIST: "File exists",
    EINVAL: "Invalid argument",
    EISDIR: "Is a directory",
    ENAMETOOLONG: "File name too long",
    ENOENT: "No such file or directory",
    ENOSPC: "No space left on device",
    ENOTDIR: "Not a directory",
    ENOTEMPTY: "Directory not empty",
}


def failure(code: int) -> OSError:
    """Returns the error of an ``errno`` code, its ``strerror`` the same on every system."""
    return OSError(code, _REASONS[code])


class FileTree:
    """Folders and files; every method that cannot do what it is asked raises ``OSError`` and changes nothing.

    Paths are absolute and in the form that ``resolve`` returns.

    Attributes:
        entries: contents of the files by path, ``None`` for a folder; the root is ``"/"``.
    """

    def __init__(self) -> None:
        self.entries: dict[str, str | None] = {"/": None}

    def resolve(self, folder: str, path: str) -> str:
        """Returns the absolute path of what ``path`` names from a folder; the last name need not exist."""
        place = "/" if path.startswith("/") else folder
        if not path:
            raise failure(ENOENT)
        for name in path.split("/"):
            if name in ("", "."):
                continue
            self.check_folder(place)
            place = dirname(place) if name == ".." else join(place, name)
            if len(name) > MAX_NAME or len(place) > MAX_PATH:
                raise failure(ENAMETOOLONG)
            if not name.isprintable():
                raise failure(EINVAL)
        return place

    def check_folder(self, path: str) -> None:
        """Raises unless there is a folder."""
        if path not in self.entries:
            raise failure(ENOENT)
        if self.entries[path] is not None:
            raise failure(ENOTDIR)

    def is_folder(self, path: str) -> bool:
        """Says whether there is a folder."""
        return self.entries.get(path, "") is None

    def read(self, path: str) -> str:
        """Returns the contents of a file."""
        if path not in self.entries:
            raise failure(ENOENT)
        text = self.entries[path]
        if text is None:
            raise failure(EISDIR)
        return text

    def write(self, path: str, text: str) -> None:
        """Makes or replaces a file."""
        if self.is_folder(path):
            raise failure(EISDIR)
        self._put({path: text})

    def make_folder(self, path: str) -> None:
        """Makes a folder where nothing is."""
        if path in self.entries:
            raise failure(EEXIST)
        self._put({path: None})

    def names(self, folder: str) -> list[str]:
        """Returns the names in a folder, in order."""
        return sorted(basename(path) for path in self.entries if path != "/" and dirname(path) == folder)

    def below(self, path: str) -> list[str]:
        """Returns a path and all below it, each folder before what it holds, names in order."""
        inside = path.rstrip("/") + "/"
        return sorted(
            (entry for entry in self.entries if entry == path or entry.startswith(inside)),
            key=lambda entry: entry.split("/"),
        )

    def copy(self, path: str, target: str) -> None:
        """Copies a file over a file, or a folder with all it holds into another, which need not exist."""
        inside = path.rstrip("/") + "/"
        if target == path or target.startswith(inside):
            raise failure(EINVAL)
        copies = {target + entry.removeprefix(path): self.entries[entry] for entry in self.below(path)}
        for entry, text in copies.items():
            if entry in self.entries and (self.entries[entry] is None) != (text is None):
                raise failure(EISDIR if text is not None else ENOTDIR)
        self._put(copies)

    def move(self, path: str, target: str) -> None:
        """Renames a file or folder; a file in the target's place is replaced, and so is an empty folder by a folder."""
        if target == path or target.startswith(path.rstrip("/") + "/"):
            raise failure(EINVAL)
        if target in self.entries and self.is_folder(path) != self.is_folder(target):
            raise failure(ENOTDIR if self.is_folder(path) else EISDIR)
        if self.is_folder(target) and self.names(target):
            raise failure(ENOTEMPTY)
        moved = {target + entry.removeprefix(path): self.entries[entry] for entry in self.below(path)}
        before = dict(self.entries)
        self.remove(path)
        try:
            self._put(moved)
        except OSError:
            self.entries = before
            raise

    def remove(self, path: str) -> None:
        """Removes a file, or a folder with all it holds."""
        for entry in self.below(path):
            del self.entries[entry]

    def _put(self, entries: dict[str, str | None]) -> None:
        """Puts entries in; a file and a folder of one path are told apart by the caller."""
        for path in entries:
            if dirname(path) not in entries:
                self.check_folder(dirname(path))
            if len(path) > MAX_PATH:
                raise failure(ENAMETOOLONG)
        after = self.entries | entries
        size = sum(len(path) + len(text or "") for path, text in after.items())
        if len(after) > MAX_ENTRIES or size > MAX_SIZE:
            raise failure(ENOSPC)
        self.entries = after
