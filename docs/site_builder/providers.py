"""The page of the providers of models and the shipped prices, built from ``providers.toml`` and ``prices.toml``."""

import re
import tomllib
from importlib import resources

from agents.providers import Provider
from rating.prices import Price
from site_builder.markdown import table

_INTRODUCTION = """\
# Providers and prices

Name a hosted model as `PROVIDER/MODEL`, e.g. `openai/gpt-5`, with its key in the environment variable of the provider. See
[language models](../models.md) for keys and options.

```bash
export OPENAI_API_KEY=...
llmarena play ttt --policy player_0=openai/gpt-5-mini --policy player_1=minimax
```

## Providers
"""

_OWN = """
Models of one provider can need other options, such as room for reasoning tokens; presets set them. Options that you give take
precedence: `openai/gpt-5:max_tokens=32000`.

To add or replace providers, set `LLMARENA_PROVIDERS` to the path of a TOML file:

```toml
[mylab]
base_url = "https://models.mylab.example/v1"
api_key_env = "MYLAB_API_KEY"
key = "optional"              # default: required
max_tokens_field = "max_tokens"
reasoning = ["big-*"]         # models with max_tokens of 16,000
no_temperature = ["big-*"]    # models that get no temperature
```

`${NAME}` in an address is the value of an environment variable.

## Shipped prices

USD per million tokens, standard processing. Providers change prices without notice: check them before a large run, and give
your own with [`--prices FILE`](../models.md#costs), which replaces all of them. A name with `*` is a prefix.
"""

_GROUP = re.compile(r"((?:^ *#.*\n)+)((?:^ *\{.*\n)+)", re.MULTILINE)
"""Comment and prices of one provider in ``prices.toml``."""


def page() -> str:
    """Returns the page, as Markdown."""
    return "\n".join([_INTRODUCTION, _providers(), _OWN, *_prices()])


def _providers() -> str:
    shipped = tomllib.loads((resources.files("agents") / "providers.toml").read_text(encoding="utf-8"))
    rows = []
    for name, values in shipped.items():
        provider = Provider.model_validate(values)
        rows.append(
            (f"[`{name}`]({provider.docs})", f"`{provider.api_key_env}`", provider.key, f"`{provider.base_url}`")
        )
    return table(("provider", "key variable", "key", "address"), rows)


def _prices() -> list[str]:
    """Returns one section for each provider, with the source of its prices."""
    sections = []
    text = (resources.files("rating") / "prices.toml").read_text(encoding="utf-8")
    for comment, lines in _GROUP.findall(text):
        note = " ".join(line.strip(" #") for line in comment.splitlines())
        name, address, rest = re.split(r", (https://[^\s,]+), ", note, maxsplit=1)
        prices = [Price.model_validate(values) for values in tomllib.loads(f"price = [{lines}]")["price"]]
        rows = [
            (
                f"`{price.model}`",
                f"{price.input:g}",
                "" if price.cached_input is None else f"{price.cached_input:g}",
                f"{price.output:g}",
                "" if price.since is None else price.since.isoformat(),
            )
            for price in prices
        ]
        source = f"[Source]({address}): {rest}"
        sections += [
            f"### {name}\n",
            f"{source}\n",
            table(("model", "input", "cached input", "output", "from"), rows),
            "",
        ]
    return sections
