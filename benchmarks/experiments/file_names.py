"""Names of files that belong to policies."""

import re
from collections.abc import Sequence

_NOT_PLAIN = re.compile(r"[^\w.-]+")


def file_name(policy: str, policies: Sequence[str]) -> str:
    """Returns a file name for a policy: its own name, with a number if another policy would have the same file name."""
    names = [_NOT_PLAIN.sub("-", each).strip("-.").lower()[:60] or "policy" for each in policies]
    name = names[policies.index(policy)]
    return name if names.count(name) == 1 else f"{name}-{policies.index(policy) + 1}"
