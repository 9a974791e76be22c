"""Tasks and their public assignments."""

import re
from typing import NamedTuple


class Assignment(NamedTuple):
    """Public part of a task.

    Attributes:
        task_id: name of the task, not shown in texts.
        text: the question, or the source text.
        signature: signature of the requested function; empty for a translation.
        entry_point: name of the requested function.
        src_lang: language of the source text; empty for a program.
        tgt_lang: target language.
    """

    task_id: str
    text: str
    signature: str = ""
    entry_point: str = ""
    src_lang: str = ""
    tgt_lang: str = ""


class Problem(NamedTuple):
    """A programming problem.

    Attributes:
        task_id: its name, unique among the tasks.
        text: the question.
        entry_point: name of the requested function.
        code: a solution; can be empty.
        test_list: statements that raise an exception for a wrong program, mostly ``assert``.
        test_setup_code: code before the statements.
        buggy_code: a program with a mistake, for scripted players; can be empty.
        bug: the mistake in words.
    """

    task_id: str
    text: str
    entry_point: str
    code: str
    test_list: tuple[str, ...]
    test_setup_code: str = ""
    buggy_code: str = ""
    bug: str = ""

    @property
    def assignment(self) -> Assignment:
        """Public part of the task, without tests and solution."""
        header = re.search(rf"^def[ ]+({re.escape(self.entry_point)}[ ]*\([^\n]*\))[^\n)]*:", self.code, re.MULTILINE)
        signature = header[1] if header else self.entry_point
        return Assignment(self.task_id, self.text, signature=signature, entry_point=self.entry_point)


class Document(NamedTuple):
    """A text to translate.

    Attributes:
        doc_id: its name, unique among the tasks.
        src: the source text.
        tgt: reference translation; empty if missing.
        src_lang: language of the source text, a code such as ``de`` or a name.
        tgt_lang: language of the translation.
    """

    doc_id: str
    src: str
    tgt: str
    src_lang: str
    tgt_lang: str

    @property
    def assignment(self) -> Assignment:
        """Public part of the task, without the reference."""
        return Assignment(self.doc_id, self.src, src_lang=self.src_lang, tgt_lang=self.tgt_lang)
