"""Estimate of the tokens of a request before it is sent."""

import json
from collections.abc import Mapping
from typing import Any

BYTES_PER_TOKEN = 4


def estimate_tokens(request: Mapping[str, Any]) -> float:
    """Returns a quarter of the bytes of the messages (UTF-8), plus the token limit of the reply."""
    read = len(json.dumps(request.get("messages"), ensure_ascii=False).encode(errors="replace")) / BYTES_PER_TOKEN
    written = request.get("max_completion_tokens", request.get("max_tokens", 0))
    return read + written if isinstance(written, int) else read
