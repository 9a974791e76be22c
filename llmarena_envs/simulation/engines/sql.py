"""A terminal of a database: SQLite in memory, without clock, randomness, files and endless queries."""

import re
import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import ClassVar

from llmarena_envs.simulation.engines.engine import MAX_OUTPUT, Engine, cut_output, fault

MAX_ROWS = 100
"""Rows of a result that are printed."""
MAX_STEPS = 100_000
"""Steps of SQLite's virtual machine for one request."""
INTERVAL = 100
"""Steps between two checks of the budget."""
MAX_SECONDS = 2.0
PAGES = 256
"""Of 4,096 bytes: the size of the database."""
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 2_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
"""A single step may take time in the square of these."""
MAX_EXPANSION = 1_000_000
"""Characters of a request after the queries that it names have been put in their places, over and over in one another."""
MAX_DEPTH = 40
"""Views that stand on one another."""

FIRST_STATE = """
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL, year INTEGER, copies INTEGER);
INSERT INTO books VALUES
(1, 'The Glass Harbour', 'Ines Calder', 1998, 3),
(2, 'Salt and Timber', 'Jonas Wrede', 2004, 0),
(3, 'A Map of Small Rivers', 'Ines Calder', 2011, 5),
(4, 'The Night Gardener', 'Mei Tanaka', NULL, 2),
(5, 'Quiet Engines', 'Omar Haddad', 2019, 1),
(6, 'Salt and Snow', 'Jonas Wrede', 2019, 4);
"""

_ALLOWED = {
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_TRIGGER,
    sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_TABLE,
    sqlite3.SQLITE_DROP_TRIGGER,
    sqlite3.SQLITE_DROP_VIEW,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_UPDATE,
    sqlite3.SQLITE_ALTER_TABLE,
    sqlite3.SQLITE_REINDEX,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
"""Neither ATTACH (nor VACUUM, which attaches), PRAGMA, transactions, temporary or virtual tables."""
_TABLES = (sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
_SYSTEM_TABLES = ("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema", "sqlite_sequence")
_FUNCTIONS = frozenset(
    "-> ->> abs char coalesce concat concat_ws glob hex ifnull iif instr length like likelihood likely lower ltrim "
    "max min nullif octet_length quote replace round rtrim sign soundex substr substring trim typeof unhex unicode "
    "unlikely upper zeroblob avg count group_concat string_agg sum total cume_dist dense_rank first_value lag "
    "last_value lead nth_value ntile percent_rank rank row_number acos acosh asin asinh atan atan2 atanh ceil ceiling "
    "cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh trunc json "
    "json_array json_array_length json_extract json_group_array json_group_object json_insert json_object json_patch "
    "json_quote json_remove json_replace json_set json_type json_valid".split()
)
"""Functions that statements may call. Others know chance, the clock, the connection, the version or addresses in memory, read
files, or count to any number in one step."""
_ALTERING = frozenset(
    "printf sqlite_drop_column sqlite_rename_column sqlite_rename_quotefix sqlite_rename_table sqlite_rename_test".split()
)
"""Functions that SQLite calls for ALTER TABLE, even where a connection replaces them."""
_TABLE_FUNCTIONS = {"json_each", "json_tree"}

_NOTHING = re.compile(r"(?:\s++|;|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))*+")
_EXPLAIN = re.compile(rf"{_NOTHING.pattern}explain(?!\w)", re.IGNORECASE)
_TOKEN = re.compile(
    r"""\s++ | --[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)
    | '(?P<single>(?:[^']|'')*+)' | "(?P<double>(?:[^"]|"")*+)" | `(?P<back>(?:[^`]|``)*+)` | \[(?P<square>[^\]]*+)\]
    | (?P<word>[\w$]++) | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), 127)} | {9: "\\t", 10: "\\n", 13: "\\r"}


class _Guard:
    """Limits of a connection; it does not refer to the connection, so both can be freed.

    Attributes:
        denied: whether something was not allowed.
        steps: that are left.
        expansion: characters that are left.
        end: of the time, in seconds of this thread's processor time; only steps that are slow by themselves reach it.
        modules: names of virtual tables.
    """

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.begin()

    def begin(self) -> None:
        """Begins a request."""
        self.denied, self.steps, self.expansion = False, MAX_STEPS, MAX_EXPANSION
        self.end = time.thread_time() + MAX_SECONDS

    def watch(self, connection: sqlite3.Connection) -> None:
        """Makes a connection ask."""
        functions = connection.execute("SELECT name, narg FROM pragma_function_list").fetchall()
        for function, arity in set(functions):  # an authorizer is not asked about those in the default of a column
            if function not in _FUNCTIONS:
                connection.create_function(function, arity, self.forbid)
        for function in _ALTERING:
            connection.create_function(function, -1, self.forbid)
        self.modules = {name.lower() for (name,) in connection.execute("SELECT name FROM pragma_module_list")}
        connection.set_authorizer(self.authorize)
        connection.set_progress_handler(self.progress, INTERVAL)

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """Says whether a statement may do something."""
        allowed = action in _ALLOWED
        table = (first or "").lower()
        if action in _TABLES and (table.startswith("sqlite_") or table in self.modules):
            allowed = table in _SYSTEM_TABLES or table in _TABLE_FUNCTIONS
        if action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in _FUNCTIONS | _ALTERING
        self.denied |= not allowed
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def forbid(self, *_: object) -> None:
        """Replaces an undefined function."""
        self.denied = True
        raise PermissionError

    def progress(self) -> bool:
        """Counts steps; says whether it is enough."""
        self.steps -= INTERVAL
        return self.steps < 0 or time.thread_time() > self.end


class SQLTerminal(Engine):
    """An SQLite database in memory that prints what its statements give.

    A result is printed as a header and its rows, cells joined by ``" | "``; any other statement as ``OK``; a failed one as
    ``ERROR: ...``, which ends the request; the changes of the statements before it remain.
    """

    name: ClassVar[str] = "sql"

    def __init__(self) -> None:
        self._open()
        self._connection.executescript(FIRST_STATE)
        self._close_off()

    def __getstate__(self) -> bytes:
        self._connection.set_authorizer(None)  # it would deny what copying asks of the database
        try:
            return self._connection.serialize()
        finally:
            self._connection.set_authorizer(self._guard.authorize)

    def __setstate__(self, state: bytes) -> None:
        self._open()
        with closing(sqlite3.connect(":memory:")) as source:
            source.deserialize(state)
            source.backup(self._connection)
        self._close_off()

    def _open(self) -> None:
        self._connection = connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, connection.close)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for limit, value in LIMITS.items():
            connection.setlimit(limit, value)

    def _close_off(self) -> None:
        self._connection.execute("PRAGMA temp_store = MEMORY")
        self._connection.execute(f"PRAGMA max_page_count = {PAGES}")
        self._guard = _Guard()
        self._guard.watch(self._connection)

    def respond(self, request: str) -> str:
        """Returns the output of the statements."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        self._guard.begin()
        lines: list[str] = []
        for statement in _statements(request):
            try:
                lines += self._execute(statement)
            except (sqlite3.Error, sqlite3.Warning) as error:
                lines.append(f"ERROR: {self._message(error)}")
                break
        return cut_output("\n".join(lines) if lines else "ERROR: no statement")

    def _message(self, error: Exception) -> str:
        if self._guard.denied:
            return "not authorized"
        if isinstance(error, sqlite3.ProgrammingError):
            return "parameters have no values"
        return _escape(str(error))

    def _execute(self, statement: str) -> list[str]:
        self._guard.denied = False
        self._guard.expansion -= self._expansion(statement)
        if _EXPLAIN.match(
            statement
        ):  # an authorizer is not asked about it, and every version of SQLite prints another plan
            self._guard.denied = True
            raise sqlite3.DatabaseError
        if self._guard.expansion < 0:
            raise sqlite3.OperationalError("too many queries in one another")
        with closing(self._connection.execute(statement)) as cursor:
            if cursor.description is None:
                return ["OK"]
            lines = [" | ".join(_escape(column[0]) for column in cursor.description)]
            size = 0
            for count, row in enumerate(cursor):
                if count == MAX_ROWS or size > MAX_OUTPUT:
                    lines.append("...")
                    break
                lines.append(" | ".join(map(_cell, row)))
                size += len(lines[-1])
        return lines

    def _expansion(self, statement: str) -> int:
        """Returns a bound of the length of a statement when SQLite has replaced names of views and of WITH queries.

        SQLite does that before it counts any step, and each level of names can double the size.
        """
        schema = self._connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        views = {name.lower(): sql for kind, name, sql in schema if kind == "view"}
        said = {_name(token) for token in _TOKEN.finditer(statement) if token.lastgroup}
        texts = [statement]
        if said & {"insert", "replace", "update", "delete", "alter"}:
            texts += [sql for kind, _, sql in schema if kind == "trigger"]
        if "alter" in said:
            texts += views.values()
        sizes: dict[str, int] = {}

        def size_of(text: str, depth: int) -> int:
            if depth > MAX_DEPTH:
                return MAX_EXPANSION + 1
            tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup]
            words = Counter(map(_name, tokens))
            size = len(text)
            for name in views.keys() & words.keys():
                if name not in sizes:
                    sizes[name] = 0  # a view's text has its own name
                    sizes[name] = size_of(views[name], depth + 1)
                size += words[name] * sizes[name]
            for name, definitions in Counter(_named_queries(tokens)).items():
                size = min(size, MAX_EXPANSION + 1) * words[name] ** min(definitions, 20)
            return size

        return sum(size_of(text, 0) for text in texts)

    def state(self) -> str:
        """Returns the statements that made the schema, each with the rows of its table."""
        connection = self._connection
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        parts = []
        for kind, name, sql in schema:
            parts.append(f"{sql};")
            if kind == "table":
                self._guard.begin()
                quoted = name.replace('"', '""')
                try:
                    parts += [" | ".join(map(_cell, row)) for row in connection.execute(f'SELECT * FROM "{quoted}"')]
                except sqlite3.Error as error:  # a column that is computed when it is read
                    parts.append(f"ERROR: {self._message(error)}")
        return "\n".join(parts)


def _statements(request: str) -> Iterator[str]:
    """Yields the statements of a request; those that are empty or comments only are left out."""
    start = 0
    for match in re.finditer(r";|\Z", request):
        statement = request[start : match.end()]
        if match.group() and not sqlite3.complete_statement(statement):
            continue
        start = match.end()
        if not _NOTHING.fullmatch(statement):
            yield statement


def _name(token: re.Match[str]) -> str:
    """Returns a token's value, as SQLite compares names."""
    return (token[token.lastgroup or 0]).lower()


def _named_queries(tokens: list[re.Match[str]]) -> Iterator[str]:
    """Yields the names that stand before ``AS (``, maybe with columns in parentheses and a word on materializing between."""
    said = [_name(token) for token in tokens]
    opened: list[int] = []
    opening: dict[int, int] = {}
    for place, word in enumerate(said):
        if word == "(":
            opened.append(place)
            before = place - 1
            while before >= 0 and said[before] in ("materialized", "not"):
                before -= 1
            if before > 0 and said[before] == "as":
                named = opening.get(before - 1, before) - 1
                yield said[named if before - 1 in opening else before - 1]
        elif word == ")" and opened:
            opening[place] = opened.pop()


def _cell(value: str | bytes | float | None) -> str:
    """Returns a value as it is printed."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, float):
        text = f"{value:.15g}"
        whole, exponent, power = text.partition("e")
        return text if "." in whole or "n" in whole else f"{whole}.0{exponent}{power}"
    return _escape(str(value))


def _escape(text: str) -> str:
    """Returns a text on one line."""
    return text.translate(_ESCAPES)
