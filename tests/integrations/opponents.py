"""Opponents that wait, and opponents that fail."""

import asyncio
from typing import Any


class Patient:
    """Waits for something, as a policy behind a server does."""

    wants_legal = True
    closed = 0

    async def __call__(self, observation: Any) -> str:
        await asyncio.sleep(0.001)
        return observation["legal"][0]

    async def close(self) -> None:
        await asyncio.sleep(0)
        Patient.closed += 1


def broken() -> Any:
    def fail(observation: Any) -> str:
        raise ConnectionError("secret/path is down")

    return fail
