"""How many tokens a request may cost, before anybody has counted them."""

import json
from collections.abc import Mapping
from typing import Any

BYTES_PER_TOKEN = 4


def estimate_tokens(request: Mapping[str, Any]) -> float:
    """Returns a quarter of the bytes of the messages (UTF-8), and the most that the reply may have."""
    read = len(json.dumps(request.get("messages"), ensure_ascii=False).encode(errors="replace")) / BYTES_PER_TOKEN
    written = request.get("max_completion_tokens", request.get("max_tokens", 0))
    return read + written if isinstance(written, int) else read
