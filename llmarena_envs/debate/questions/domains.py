"""The eight domains of questions (Auto-Arena, arXiv 2405.20267v1, section 3.1) and their spellings in files."""

import re

from llmarena_envs.core.options import nearest

DOMAINS = ("writing", "roleplay", "extraction", "reasoning", "math", "coding", "stem", "humanities")
"""The domains, in the order of the paper."""

_SPELLINGS = {
    "role play": "roleplay",
    "role playing": "roleplay",
    "information extraction": "extraction",
    "mathematics": "math",
    "maths": "math",
    "programming": "coding",
    "stem knowledge": "stem",
    "humanities knowledge": "humanities",
    "social science": "humanities",
    "humanities social science": "humanities",
    "humanities and social science": "humanities",
    "humanities social science knowledge": "humanities",
    "humanities and social science knowledge": "humanities",
    "humanities or social science knowledge": "humanities",
    **dict(
        zip(("写作", "角色扮演", "信息提取", "推理", "数学", "编程", "理工知识", "人文社科知识"), DOMAINS, strict=True)
    ),
}
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def read_domain(text: str) -> str:
    """Parses a domain name, e.g. ``stem`` for ``STEM knowledge``.

    Raises:
        ValueError: if the domain is unknown.
    """
    words = " ".join(_BETWEEN_WORDS.sub(" ", text).casefold().split())
    domain = _SPELLINGS.get(words, words)
    if domain not in DOMAINS:
        raise ValueError(f"expected one of {', '.join(DOMAINS)}, got {text!r:.80}{nearest(words, DOMAINS)}")
    return domain
