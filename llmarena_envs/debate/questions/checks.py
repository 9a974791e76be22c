"""Checks that a text is usable as a question: it asks, answers nothing and is self-contained.

Refuses only certain defects; does not judge the quality of a question.
"""

import re

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.similarity import essence

MIN_LETTERS = 8
"""Minimum number of letters and digits of a question; Chinese, Japanese and Korean characters count twice."""

MAX_QUESTION = 4_000
"""Maximum number of characters of a question."""

MIN_CONTEXT = 60
"""Minimum number of letters and digits, counted the same way, of a text that a question refers to."""

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def _any_of(words: str) -> str:
    """Returns a pattern that matches any of some words."""
    return f"(?:{'|'.join(words.split())})"


_ANSWER = re.compile(
    r"\s*+(?:(?:sure|certainly|of course|absolutely|great question)\s*+[,.!:]|(?:the |my |final )*+answer(?: is\b|\s*+:)|"
    r"solution\s*+:|as an ai(?:,| language model)|(?:i'm|i am) sorry,? but|i'm unable to|i apologi[sz]e|"
    r"i (?:can(?:'|no)t|am unable to) (?:help|assist|provide|create|generate|comply)|"
    r"(?:答|解|答案|回答|解答)\s*+:|答案[是为]|好的[,!]|当然[,!]|作为(?:一个|一名)?(?:人工智能|ai|语言模型)|(?:抱歉|对不起),|"
    r"我(?:无法|不能)(?:提供|帮助|生成|回答|完成))",
    re.IGNORECASE,
)
_WITH_ANSWER = re.compile(
    r"\n[ \t]*+[*_(（]{0,3}+(?:(?:correct |sample |expected |model )?answer|solution|答案|参考答案|解答|答)[*_]{0,2}+[ \t]*+:",
    re.IGNORECASE,
)

_REQUESTS = _any_of(
    "please write draft compose craft imagine pretend assume suppose answer respond reply explain describe discuss compare"
    " contrast analy[sz]e evaluate assess argue critique summari[sz]e name identify extract find tell determine decide compute"
    " calculate solve prove derive simplify estimate design develop implement refactor debug optimi[sz]e translate rewrite edit"
    " outline propose recommend suggest justify define arrange classify convert trace what why how"
)
_BEGINNINGS = _any_of(
    "which who whose when where be act play work take put turn make set check correct continue create invent devise choose pick"
    " report let give run start begin add show list state count rank sort complete plan build fix provide factor help use using"
)
_CHINESE_REQUESTS = _any_of(
    "请 吗 呢 什么 为何 如何 怎样 怎么 哪 谁 多少 是否 能否 写 起草 创作 扮演 假设 假如 想象 你 您 解释 说明 描述"
    " 讨论 比较 分析 评价 评估 论述 论证 总结 概括 列出 指出 找出 提取 计算 求 证明 推导 设计 实现 翻译 改写 给出"
    " 判断 谈谈 试 回答 解答 完成 推荐"
)
_ASKS = re.compile(
    rf"\?|\byou(?:'re|r)?\b|\b{_REQUESTS}\b|(?:\A|[.:;!(\n])\s*+[\"'*]?+{_BEGINNINGS}\b|{_CHINESE_REQUESTS}",
    re.IGNORECASE,
)

_TEXT = _any_of(
    "text passage paragraph article excerpt story email letter report document context table list code program snippet data"
)
_CHINESE_TEXT = _any_of("文章 文本 文字 材料 段落 代码 表格 内容 短文 资料")
_PICTURE = _any_of("image picture photo figure chart diagram graph screenshot video")
_GAP = "[ \n]{1,3}+"
_BEFORE = re.compile(
    rf"\b(?:the|this) (?:above|previous|preceding|aforementioned){_GAP}{_TEXT}\b|"
    rf"\b{_TEXT}{_GAP}(?:given |shown |provided )?above\b|"
    rf"(?:上文|上述|上面的?|以上){_CHINESE_TEXT}",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    rf"\b(?:the|this) following{_GAP}{_TEXT}\b|\b{_TEXT}{_GAP}(?:given |shown |provided )?below\b|"
    rf"(?:下文|下列|下面的?|以下){_CHINESE_TEXT}",
    re.IGNORECASE,
)
_BESIDE = re.compile(rf"\bthe (?:given|provided){_GAP}{_TEXT}\b|所给的?{_CHINESE_TEXT}", re.IGNORECASE)
_ELSEWHERE = re.compile(
    rf"\b{_any_of('see read use using summari[sz]e review analy[sz]e translate on to from in')} the"
    r" (?:attached|enclosed) \w{1,20}+|"
    rf"\b{_PICTURE}{_GAP}(?:above|below|attached)\b|\bthe (?:above|following|attached){_GAP}{_PICTURE}\b|"
    r"\bthe (?:previous|preceding) (?:question|query)\b|"
    r"[如见]图|[上下]图[所中是为]|[见据考读看]附件|附件[中里]的|上一[个道]?(?:问题|题)",
    re.IGNORECASE,
)


def check_question(text: str) -> Reason | None:
    """Returns why a text is unusable as a question, or ``None`` if usable.

    The reason names a text of ``prompts``. Linear in the length of the text.
    """
    size = letters(text)
    if not size:
        return Reason("question_empty")
    if len(text) > MAX_QUESTION:
        return Reason("question_long", {"most": MAX_QUESTION, "characters": len(text)})
    plain = narrow(text)
    if _ANSWER.match(plain) or _WITH_ANSWER.search(plain):
        return Reason("question_answer")
    if size < MIN_LETTERS:
        return Reason("question_short")
    if not _ASKS.search(plain):
        return Reason("question_asks_nothing")
    missing = _missing_context(plain)
    return Reason("question_context", {"named": missing}) if missing else None


def letters(text: str) -> int:
    """Returns the number of letters and digits; Chinese, Japanese and Korean characters count twice."""
    plain = essence(text)
    return len(plain) + len(_CJK.findall(plain))


def _missing_context(text: str) -> str:
    """Returns the words of a reference to missing context, else an empty string."""
    match = _ELSEWHERE.search(text)
    if match:
        return match[0]
    match = _BEFORE.search(text)
    if match and letters(text[: match.start()]) < MIN_CONTEXT:
        return match[0]
    match = _BEHIND.search(text)
    if match and letters(text[match.end() :]) < MIN_CONTEXT:
        return match[0]
    match = _BESIDE.search(text)
    if match and max(letters(text[: match.start()]), letters(text[match.end() :])) < MIN_CONTEXT:
        return match[0]
    return ""
