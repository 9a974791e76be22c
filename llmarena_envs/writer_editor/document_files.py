"""Files of texts to translate.

A record has ``src`` and optionally ``tgt`` (a reference), ``doc_id``, ``src_lang`` and ``tgt_lang``. Neighbouring records with
the same ``doc_id`` form one document, in order; a record without one is a document. Documents are split into segments
(``segments``); each segment is a task.
"""

from collections.abc import Iterable
from itertools import groupby

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.records import Record
from llmarena_envs.writer_editor.segments import Unit, segment
from llmarena_envs.writer_editor.task_types import Document

MAX_LANGUAGE = 40
"""Maximum number of characters of the name of a language."""


def read_documents(records: Iterable[Record], src_lang: str = "", tgt_lang: str = "") -> tuple[Document, ...]:
    """Reads documents and splits them into segments.

    Args:
        records: the records.
        src_lang: default language of the source texts.
        tgt_lang: default language of the translations.

    Raises:
        OptionError: naming the line, if a field is missing or unusable, a document is not contiguous, or there is none.
    """
    documents: list[Document] = []
    seen: set[str] = set()
    numbered = ((record, record.name("doc_id", f"document {number}")) for number, record in enumerate(records, start=1))
    for doc_id, group in groupby(numbered, key=lambda pair: pair[1]):
        pieces = [record for record, _ in group]
        if doc_id in seen:
            raise pieces[0].error(
                f"doc_id: {doc_id!r} goes on after another document; the pieces of one stand together"
            )
        seen.add(doc_id)
        languages = {
            (_language(piece, "src_lang", src_lang), _language(piece, "tgt_lang", tgt_lang)) for piece in pieces
        }
        if len(languages) > 1:
            raise pieces[-1].error(f"src_lang, tgt_lang: expected the same languages throughout {doc_id!r}")
        (pair,) = languages
        segments = list(segment(Unit(piece.text("src").strip(), piece.text("tgt", "").strip()) for piece in pieces))
        names = [doc_id] if len(segments) == 1 else [f"{doc_id}, part {number + 1}" for number in range(len(segments))]
        documents += [Document(name, *unit, *pair) for name, unit in zip(names, segments, strict=True)]
    if not documents:
        raise OptionError("tasks: expected at least one document, got none")
    return tuple(documents)


def _language(record: Record, name: str, default: str) -> str:
    language = " ".join(record.text(name, default).split())
    if not language:
        raise record.error(f"{name}: expected a language; name it in the records or by the option {name}")
    if len(language) > MAX_LANGUAGE:
        raise record.error(f"{name}: expected at most {MAX_LANGUAGE} characters, got {len(language)}")
    return language
