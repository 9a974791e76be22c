"""The page of providers and prices."""

import re

from agents.providers import providers
from rating.prices import shipped_prices
from tests.docs.pages import build_pages


def test_providers_page_lists_every_provider_and_price(monkeypatch):
    monkeypatch.delenv("LLMARENA_PROVIDERS", raising=False)
    page = build_pages().pages()["reference/providers.md"]
    listed, priced = page.split("## Shipped prices")
    assert re.findall(r"^\| \[`(\w+)`\]", listed, re.M) == list(providers())
    assert re.findall(r"^\| `(\S+)` \|", priced, re.M) == [price.model for price in shipped_prices()]
    assert len(re.findall(r"^\[Source\]\(https://", priced, re.M)) == priced.count("\n### ") > 0
