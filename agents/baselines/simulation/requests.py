"""What scripted users ask engines for.

In every request ``{n}`` stands for a digit from 2 to 9 and ``{c}`` for one from 1 to 3.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

_GAP = re.compile(r"\{([nc])\}")
_DIGITS = {"n": (2, 9), "c": (1, 3)}


class Kinds(NamedTuple):
    """Requests of two kinds.

    Attributes:
        valid: can be carried out, and some change the state.
        odd: rare, hard, or not well formed.
    """

    valid: Sequence[str]
    odd: Sequence[str]


def filled_in(request: str, rng: np.random.Generator) -> str:
    """Returns a request with digits in its gaps."""
    return _GAP.sub(lambda gap: str(rng.integers(*_DIGITS[gap[1]], endpoint=True)), request)


def is_one_of(request: str, requests: Iterable[str]) -> bool:
    """Says whether a request is one of some, with digits in its gaps."""
    return any(_pattern(each).fullmatch(request) for each in requests)


@lru_cache(maxsize=1024)
def _pattern(request: str) -> re.Pattern[str]:
    parts = _GAP.split(request)[::2]  # between them stand the names of the gaps
    return re.compile("[0-9]".join(map(re.escape, parts)))


REQUESTS = {
    "sql": Kinds(
        (
            "SELECT title, copies FROM books WHERE copies >= {c} ORDER BY copies DESC, title;",
            "UPDATE books SET copies = copies + {n} WHERE id = {c}; SELECT id, copies FROM books WHERE id <= 3",
            "INSERT INTO books (title, author, year, copies) VALUES ('Winter Lines', 'Ada Quist', 20{n}{n}, {n})",
            "DELETE FROM books WHERE id = {n}; SELECT COUNT(*) AS n FROM books",
            "SELECT author, SUM(copies) AS copies FROM books GROUP BY author ORDER BY author",
            "CREATE TABLE IF NOT EXISTS loans (book INTEGER, days INTEGER); INSERT INTO loans VALUES ({c}, {n}{n})",
            "SELECT MAX(year) - MIN(year) AS years, AVG(copies) AS mean FROM books",
            "SELECT * FROM books WHERE author = 'Ines Calder'",
        ),
        (
            "SELECT title FROM books WHERE shelf = {n}",
            "SELEC * FROM books",
            "INSERT INTO books (id, title, author) VALUES ({c}, 'Twice', 'Nobody'); SELECT 1",
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {n}) SELECT SUM(n * n) AS s FROM t",
            "-- only a remark",
        ),
    ),
    "python": Kinds(
        (
            "x = {n}{n}\nx * {n}",
            "values = [{n}, {n}, {n}]\nsorted(values)",
            "def f(a):\n    return a ** 2 + {n}\n\nf({n})",
            "total = sum(k * {n} for k in range({n}))\ntotal",
            "import math\nmath.gcd({n}{n}, {n}4)",
            "print(*reversed('abc{n}'))",
            "{'a': {n}, 'b': [{n}] * {c}}",
            "divmod({n}{n}, {n})",
        ),
        (
            "total + x",
            "print('before'); [][{n}]",
            "def g(:\n    pass",
            "import os",
            "_ , _",
        ),
    ),
    "shell": Kinds(
        (
            "echo 'water beans {n}' >> notes.txt; wc -l notes.txt",
            "sort -rn garden/beds.txt | head -n {c}",
            "grep -n {n} garden/beds.txt; cat notes.txt",
            "mkdir -p plans/may && echo 'dig {n}' > plans/may/week{c}.txt; ls plans/may",
            "cp notes.txt /tmp/copy{c}.txt && ls /tmp",
            "cd garden; pwd; ls",
            "cd; tail -n {c} notes.txt",
            "find /home/user -type f -name '*.txt'",
        ),
        (
            "rm -r garden; ls garden",
            "cat week{n}.txt | grep -c dig || echo none",
            "echo 'open",
            "head -n x /etc/hosts; ls -z",
            "cd /tmp/../home/./user && echo \"a  'b'  \\\\\" | wc",
        ),
    ),
    "tictactoe": Kinds(
        ("({c}, {c})", "({c},{c})", "{c}, {c}", "({c}, {c})", "( {c} , {c} )", "({c}, {c})", "board", "new"),
        ("({n}, {c})", "(0, {c})", "{c}", "({c}, {c}) and ({c}, {c})", "NEW"),
    ),
    "spreadsheet": Kinds(
        (
            "SET B{c} {n}.5\nSHOW B1:D4",
            "SET A5 tax\nSET D5 =D4*0.{n}\nSHOW D4:D5",
            "SET C2 {n}\nSHOW D4",
            'SET E1 =IF(D4 > {n}0, "dear", "cheap")',
            "SET F{c} =AVG(B2:B3)+{n}\nFORMULA F{c}",
            "SET J20 =MAX(C2:C3, {n})",
            "CLEAR B{c}\nSHOW A1:D4",
            "SHOW C{c}:D4",
        ),
        (
            "SET G1 =G2\nSET G2 =G1\nSHOW G1:G2",
            "SET H1 ={n}/(C2-C2)",
            "SET K{n} 1",
            "SET I1 =SUM(A1:D4",
            "SET I2 =A2*{n}",
        ),
    ),
    "json_store": Kinds(
        (
            'PUT dan {"age": {n}6, "name": "Dan", "tags": ["x{n}"]}',
            'PUT item-{c} {"price": {n}.50, "in": {"stock": true}}',
            "GET item-{c}",
            "DELETE item-{c}",
            "FIND age 36",
            "LIST",
            "COUNT",
            'PUT bo {"age": {n}, "name": "Bo", "address": {"city": "Bergen"}}',
        ),
        (
            'PUT x{n} {"a": 1,}',
            "GET nobody",
            'FIND in.stock "true"',
            "PUT ../up {}",
            'put ada {"b": [1E{n}, null, {}], "a": "\\u00e9"}',
        ),
    ),
    "key_value": Kinds(
        (
            "INCR visits\nINCR visits\nGET visits",
            "SET k{c} {n}{n}\nMGET k1 k2 k3",
            "RPUSH queue cy{n}\nLRANGE queue 0 -1",
            "LPOP queue\nLRANGE queue 0 -1",
            "SADD colours red{c}\nSMEMBERS colours",
            "HSET user:1 age {n}{n}\nHGETALL user:1",
            "DEL k{c}\nKEYS k*",
            "APPEND k{c} {n}\nGET k{c}",
        ),
        (
            "INCR queue",
            'SET s "a \\"b\\" {n}"\nGET s',
            "LRANGE queue 0 x",
            "EXPIRE k{c} {n}",
            'GET "open',
        ),
    ),
    "unit_converter": Kinds(
        (
            "{n} ft {n} in to cm",
            "{n}{n} km to mi",
            "{n}8.6 F to C",
            "{n} h {n} min to s\n{n} mi to m",
            "{n}00 GB to GiB",
            "{n}.{n} kg to lb",
            "UNITS speed",
            "{n}0 km/h to mph",
        ),
        (
            "{n} kg to m",
            "-{n}00 C to K",
            "{n} parsec to m",
            "1,{n} km to m",
            "1e{n}{n}{n} m to km",
        ),
    ),
    "regex_tester": Kinds(
        (
            r"/\d+/ a{n}b{n}{n}c",
            r"/(\w)(\d)?/ x{n} yz",
            r"/^item (?P<no>\d+)$/m item {n}" + "\nitem x\nitem {n}{n}",
            r"/[aeiou]{2,}/i Queue {n} beautiful Aeons",
            r"/\b\w{3}\b/ one two three {n}{n}{n}",
            r"/a|b*?c/ abbc {n} bc",
            r"/{n}/ {n}{n}{n}",
            r"/(?:ab)+/ ababab ab {n}",
        ),
        (
            r"/(a*)*b/ aaa{n}",
            r"/(.)\1/ {n}{n}",
            "/(a+)+$/ " + "a" * 60 + "b",
            "/[{n}/ x",
            "no slashes {n}",
        ),
    ),
    "stack_machine": Kinds(
        (
            "PUSH {n} MUL STACK",
            "PUSH {n} PUSH {n}{n} SUB PRINT",
            "DUP MUL PRINT",
            "OVER ADD STACK",
            "SWAP STACK",
            "PUSH -{n}7 PUSH {n} DIV PRINT",
            "PUSH {n} ROT STACK",
            "POP PUSH {n} STACK",
        ),
        (
            "POP POP POP POP POP POP STACK",
            "PUSH 0 DIV",
            "PUSH {n} JUMP",
            "STACK PUSH",
            "push +0{n} print",
        ),
    ),
    "calendar": Kinds(
        (
            "ADD +{n} {n}:30 45m Review {n}",
            "ADD friday 1{c}:00 1h30m Call with Bo",
            "LIST today",
            "LIST",
            "MOVE {c} +{n} 16:00",
            "FREE +{c}",
            "DIFF today 2026-0{n}-1{n}",
            "DELETE {c}\nLIST",
        ),
        (
            "ADD today 9:15 1h Clash",
            "WEEKDAY 2026-02-30",
            "ADD +{c} 23:{n}0 2h Late",
            "ADD today 10:00 1h",
            "move one today 10:00",
        ),
    ),
    "cipher": Kinds(
        (
            "ENCODE Meet me at {n}.",
            "SETKEY 1{n}\nENCODE boats\nSTATUS",
            "MODE vigenere\nENCODE attack at dawn",
            "MODE rotor\nENCODE AAAA\nSTATUS",
            "MODE atbash\nENCODE Wizard {n}",
            "STATUS",
            "MODE caesar\nDECODE Wkh Ihuub",
            "DECODE Xyz Abc",
        ),
        (
            "MODE enigma",
            "SETKEY {n}{n}",
            "MODE rotor\nSETKEY A{n}",
            "ENCODE",
            "mode substitution\nencode Zebra \u00e9",
        ),
    ),
}
