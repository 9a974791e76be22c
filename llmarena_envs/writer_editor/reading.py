"""Parsing of writers' and editors' texts, without wrappers added by models."""

import re
from collections.abc import Callable

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.quoting import printable
from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.reading.objects import read_object
from llmarena_envs.core.replies import clean_text, read_part

MAX_PASSES = 8
"""Maximum number of nested wrappers to remove."""

_TURN_BEGINS = re.compile(
    r"\s*+(?:<\|im_start\|>(?:assistant)?|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>(?:model)?|"
    r"<\|assistant\|>|<s>|<bos>|<\|begin_of_text\|>)\s*+"
)
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|eot|end|endoftext|end_of_text|end_of_turn|start_header_id|return|user)\|>"
    r"|</?(?:end|start)_of_turn>|<eos>|</s>(?=\s*+\Z)"
)
_NAMES = (
    r"answer|final_answer|output|response|text|code|program|python|solution|review|comments?|feedback|"
    r"translation|polished(?:_translation|_text)?"
)
_TAG = re.compile(rf"<({_NAMES})>(.*)</\1>", re.IGNORECASE | re.DOTALL)
_KEY = re.compile(_NAMES, re.IGNORECASE)
_QUOTED = re.compile(r"(?:[ \t]*\n|>[^\n]*(?:\n|\Z))*+")
_QUOTE = re.compile(r"^(?:>[ ]?)++", re.MULTILINE)
FENCE = re.compile(r"^([ \t]*+)(`{3,}+|~{3,}+)[ \t]*+([^\n`]{0,80}+)$", re.MULTILINE)
_ABOUT_TRANSLATION = r"translat|polish|revis|proofread|译|润色|校"
_LABEL = re.compile(
    r"\s*+[*_#> ]{0,6}+"
    r"(?:translation|(?:final|polished|revised|improved)[ ](?:translation|version|text)|译文|润色后的?译文|润色后)"
    rf"[*_ ]{{0,6}}+[:：][*_ ]{{0,6}}+|\s*+(?=[^\n]{{0,100}}?(?:{_ABOUT_TRANSLATION}))"
    r"(?:sure|certainly|of course|okay|ok|here|below|this is|好的|以下|下面|这是)[^\n:：]{0,100}+[:：][ \t]*+\n",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"\s*+[*_#]{0,6}+[ ]?(?:programmer|reviewer|translator|proofreader|程序员|审阅者|评审|译者|校对|writer_0|editor_0)"
    r"[*_]{0,3}+[ ]?[:：][*_]{0,3}+\s*+(?=\S)",
    re.IGNORECASE,
)
_TOKEN_EDGE = re.compile(r"^[\W_]+|[\W_]+$")


def own_words(reply: str) -> str:
    """Returns a reply without reasoning, chat-template tokens, an enclosing tag or object, and unprintable characters.

    Raises:
        ParseError: if there are more than ``MAX_PASSES`` wrappers.
    """
    return _settled(reply, _unwrapped)


def read_review(reply: str, token: str) -> str:
    """Returns an editor's review: free text, or ``token`` if it contains nothing else.

    Ignores case, punctuation and markup around the token.

    Raises:
        ParseError: if it says nothing.
    """
    text = _settled(reply, _unwrapped_text)
    return token if _is_token(text, token) else _some(text)


def read_translation(reply: str) -> str:
    """Returns a translation, without a heading for it.

    Raises:
        ParseError: if there is no translation.
    """
    return _some(_settled(reply, _translation))


def read_polished(reply: str, token: str) -> str:
    """Returns a polished translation, or ``token`` if the reply contains nothing else; see ``read_review``.

    Raises:
        ParseError: if it says nothing.
    """
    text = _settled(reply, _translation)
    return token if _is_token(text, token) else _some(text)


def _settled(reply: str, step: Callable[[str], str]) -> str:
    """Applies a step until nothing changes."""
    text = reply
    for _ in range(MAX_PASSES):
        before, text = text, step(text)
        if text == before:
            return text
    raise ParseError(Failure.UNPARSABLE, "nothing_stated")


def _some(text: str) -> str:
    if not text:
        raise ParseError(Failure.UNPARSABLE, "nothing_stated")
    return text


def _is_token(text: str, token: str) -> bool:
    if len(text) > 10 * len(token) + 100:
        return False
    return _TOKEN_EDGE.sub("", clean_text(narrow(text))).casefold() == narrow(token).casefold()


def _unwrapped(reply: str) -> str:
    text = printable(read_part(reply))
    begins = _TURN_BEGINS.match(text)
    text = text[begins.end() :] if begins else text
    ends = _TURN_ENDS.search(text)
    text = text[: ends.start()] if ends else text
    stripped = text.strip()
    tag = _TAG.fullmatch(stripped) if stripped[:1] == "<" else None
    if tag and f"</{tag[1].lower()}>" not in tag[2].lower():
        return tag[2]
    if stripped[:1] == "{" and stripped[-1:] == "}":
        fields = read_object(stripped) or {}
        stated = [value for key, value in fields.items() if _KEY.fullmatch(key) and isinstance(value, str)]
        if len(stated) == 1:
            return stated[0]
    return text


def _unwrapped_text(reply: str) -> str:
    """Removes two more wrappers: the name of the speaker, and a fence around the whole text."""
    text = _unwrapped(reply).strip()
    speaker = _SPEAKER.match(text)
    text = text[speaker.end() :] if speaker else text
    fences = list(FENCE.finditer(text)) if text[:3] in ("```", "~~~") else []
    if len(fences) == 2 and fences[1].end() == len(text) and fences[0][2][0] == fences[1][2][0] and not fences[1][3]:
        return text[fences[0].end() : fences[1].start()].strip()
    return text


def unquoted(text: str) -> str:
    """Removes quote marks that precede every line, as in texts shown to players."""
    return _QUOTE.sub("", text) if ">" in text and _QUOTED.fullmatch(text) else text


def _translation(reply: str) -> str:
    text = unquoted(_unwrapped_text(reply)).strip()
    label = _LABEL.match(text)
    return text[label.end() :].strip() if label and text[label.end() :].strip() else text
