"""Which part of a reply is the program."""

import pytest

from llmarena_envs.core.failures import ParseError
from llmarena_envs.writer_editor.programs import read_program, write_program

PROGRAM = "def add(a, b):\n    return a + b"
DOCUMENTED = '''def add(a, b):
    """Adds.

    ```
    add(1, 2)
    ```
    """
    return a + b'''
EXAMPLE = '''def add(a, b):
    """Adds.

    ```python
    add(1, 2)
    ```

    and ~~~ too:
    ~~~
    add(3, 4)
    ~~~
    """
    return a + b'''
HELPER = "def plus(a, b):\n    return a + b"
UNIFIED = "--- a/add.py\n+++ b/add.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b"
CHANGED = " def add(a, b):\n-    return a - b\n+    return a + b"
REPLACED = "<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE"
USES = "def add(a, b):\n    return plus(a, b)"


def fenced(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


def blocks(*programs: str) -> str:
    """Returns a reply with a block of Python for each."""
    return "Then:\n".join([f"{fenced(program)}\n" for program in programs])


def indented(text: str, blanks: int) -> str:
    return "\n".join(" " * blanks + line if line else line for line in text.split("\n"))


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        # Fences inside a program.
        (fenced(DOCUMENTED), DOCUMENTED),
        (fenced(EXAMPLE), EXAMPLE),
        (fenced(DOCUMENTED, ""), DOCUMENTED),
        (f"Here it is:\n\n{fenced(DOCUMENTED)}\n\nIt adds.\n\n{fenced('add(1, 2)')}", DOCUMENTED),
        (f"~~~python\n{DOCUMENTED}\n~~~", DOCUMENTED),
        (f"````python\n{DOCUMENTED}\n````", DOCUMENTED),
        (f"```python\n{DOCUMENTED}", DOCUMENTED),
        (DOCUMENTED, DOCUMENTED),
        (f"The program:\n\n{EXAMPLE}\n\nDone.", EXAMPLE),
        (f"1. It adds:\n   {indented(fenced(DOCUMENTED), 3).strip()}", DOCUMENTED),
        (f"* a\n  * b\n\n{indented(fenced(DOCUMENTED), 6)}\n", DOCUMENTED),
        (f"* a\n\n{indented(fenced(PROGRAM), 4)}\n\nRun it:\n{fenced('python add.py', 'bash')}", PROGRAM),
        (f"```python\n{PROGRAM}\n   ```\nDone.", PROGRAM),
        (f"```python\n{PROGRAM}\n`````\nDone.", PROGRAM),
        (fenced(DOCUMENTED.replace("    ", "\t")), DOCUMENTED.replace("    ", "\t")),
        # Several blocks, one of them the program.
        (blocks(PROGRAM, "print(add(1, 2))"), PROGRAM),
        (blocks(PROGRAM, "result = add(1, 2)", "print(result)"), PROGRAM),
        (blocks("def add(a, b): ...", PROGRAM), PROGRAM),
        (blocks(PROGRAM, "def test_add():\n    assert add(1, 2) == 3"), PROGRAM),
        (blocks(HELPER, PROGRAM), PROGRAM),
        (f"{fenced(PROGRAM)}\nIt prints:\n{fenced('3', '')}", PROGRAM),
        (f"{fenced(PROGRAM)}\nThe change:\n{fenced(CHANGED, 'diff')}", PROGRAM),
        (f"{fenced('function add() {}', 'javascript')}\n{fenced(PROGRAM)}", PROGRAM),
        (f"{PROGRAM}\n\nRun it:\n{fenced('python add.py', 'bash')}", PROGRAM),
        # Several blocks that are the program together.
        (blocks(HELPER, USES), f"{HELPER}\n{USES}"),
        (blocks(USES, HELPER), f"{USES}\n{HELPER}"),
        (blocks(HELPER, USES, "print(add(1, 2))"), f"{HELPER}\n{USES}"),
        (f"{fenced(HELPER, '')}\n{fenced(USES, '')}\n{fenced('print(add(1, 2))', '')}", f"{HELPER}\n{USES}"),
        (blocks("import math", "def add(a, b):\n    return math.fsum([a, b])"), None),
        (blocks("from math import fsum as total", "def add(a, b):\n    return total([a, b])"), None),
        (blocks("LIMIT = 9", "x = 5", "def add(a, b):\n    return min(LIMIT, a + b)"), None),
        (blocks("ONE = 1", "TWO = ONE + 1", "def add(a, b):\n    return a + b + TWO"), None),
        (blocks("def make():\n    return lambda a, b: a + b", "add = make()"), None),
        (blocks("def add(a, b):\n    total = a", "    return total + b"), None),
        (blocks("class Sum:\n    def __call__(self, a, b):\n        return a + b", "add = Sum()"), None),
        (blocks(f"def add(a, b):\n    return 0\n\n{HELPER}", USES), None),
    ],
)
def test_the_program_of_a_reply(reply: str, program: str | None) -> None:
    """If no program is named, the parsed text must define a function that adds."""
    read = read_program(reply, "add")
    if program is not None:
        assert read == program
    defined: dict[str, object] = {}
    exec(read, defined)
    assert defined["add"](1, 2) in (3, 5)  # type: ignore[operator]
    assert "x" not in defined and "result" not in defined
    assert read_program(write_program(read), "add") == read


@pytest.mark.parametrize(
    "reply",
    [
        fenced(UNIFIED, "diff"),
        fenced(UNIFIED),
        fenced(UNIFIED, ""),
        fenced(UNIFIED, "patch"),
        fenced(CHANGED, "diff"),
        fenced(CHANGED),
        fenced(CHANGED, ""),
        fenced("+def add(a, b):\n+    return a + b"),
        fenced(REPLACED),
        fenced(f"diff --git a/add.py b/add.py\n{UNIFIED}", ""),
        UNIFIED,
        f"Please change this:\n\n{fenced(CHANGED, 'diff')}\n\nThe rest stays. Then\n{fenced('print(add(1, 2))')}",
    ],
)
def test_a_change_of_a_program_is_asked_again_with_the_reason(reply: str) -> None:
    with pytest.raises(ParseError) as error:
        read_program(reply, "add")
    assert error.value.reason == ("diff", {"entry_point": "add"})


@pytest.mark.parametrize(
    "program",
    [
        f'"""Notes.\n\n+ import nothing\n- return early\n-return\n"""\n{PROGRAM}',
        f"text = '''\n{UNIFIED}\n'''\n{PROGRAM}",
        f"{PROGRAM}\n\n\n-add(1, 2)",
    ],
)
def test_program_containing_diff_like_text_is_read(program: str) -> None:
    assert read_program(fenced(program), "add") == program


@pytest.mark.parametrize(
    "part", ["-", "(", "a+", "if a:\n ", "```python\n    x\n```\n", "```python\nx = y\n```\n", "+import a\n"]
)
def test_a_long_reply_of_blocks_is_read_or_refused(part: str) -> None:
    for text in (part * (100_000 // len(part)), fenced(part * (19_000 // len(part)))):
        try:
            assert len(read_program(text, "add")) <= 100_000
        except ParseError as refusal:
            assert refusal.reason.name in ("diff", "no_program")
