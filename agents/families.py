"""Families of language models by developer, for tests of family bias in judges."""

import re
from collections.abc import Mapping

FAMILIES: Mapping[str, str] = {
    "baichuan": "Baichuan",
    "bison": "Google",
    "chatglm": "Zhipu",
    "chatgpt": "OpenAI",
    "claude": "Anthropic",
    "codestral": "Mistral",
    "command": "Cohere",
    "davinci": "OpenAI",
    "deepseek": "DeepSeek",
    "ernie": "Baidu",
    "falcon": "TII",
    "gemini": "Google",
    "gemma": "Google",
    "glm": "Zhipu",
    "gpt": "OpenAI",
    "granite": "IBM",
    "grok": "xAI",
    "internlm": "Shanghai AI Laboratory",
    "kimi": "Moonshot",
    "llama": "Meta",
    "magistral": "Mistral",
    "minimax": "MiniMax",
    "ministral": "Mistral",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "moonshot": "Moonshot",
    "nemotron": "NVIDIA",
    "nova": "Amazon",
    "o1": "OpenAI",
    "o3": "OpenAI",
    "o4": "OpenAI",
    "palm": "Google",
    "phi": "Microsoft",
    "qwen": "Alibaba",
    "qwq": "Alibaba",
    "sensechat": "SenseTime",
    "yi": "01.AI",
}
"""Developer by a word of the model's name."""

_WORD = re.compile(r"[a-z]+\d*")


def family_of(name: str, families: Mapping[str, str] | None = None) -> str:
    """Returns the family of a policy, or an empty text if unknown.

    Args:
        name: of the policy or the model, e.g. ``openai:gpt-4o`` or ``meta-llama/Llama-3-70b``.
        families: further families, by the policy's name or by a word of the model's name; they take precedence over ``FAMILIES``.
    """
    own = {key.lower(): family for key, family in families.items()} if families else {}
    if name.lower() in own:
        return own[name.lower()]
    model = name.removeprefix("openai:").removeprefix("hf:").partition(":")[0].rpartition("/")[2]
    for word in _WORD.findall(model.lower()):
        for key in (word, word.rstrip("0123456789")):
            if family := own.get(key) or FAMILIES.get(key):
                return family
    return ""
