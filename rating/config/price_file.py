"""The price file, which a run file can name instead of listing prices."""

import tomllib
from pathlib import Path

import tomlkit
from pydantic import BaseModel, ConfigDict, ValidationError

from llmarena_envs.core.options import OptionError, nearest
from rating.prices import Price


class _PriceFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    price: list[Price]


def read_prices(path: Path) -> list[Price]:
    """Reads a file of ``[[price]]`` tables.

    Raises:
        OptionError: if it cannot be read or is invalid.
    """
    try:
        return _PriceFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).price
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OptionError(f"prices: expected a TOML file of [[price]] tables, got {str(path)!r}: {error}") from error
    except ValidationError as error:
        raise OptionError(f"{path}: {'; '.join(_explain(item) for item in error.errors())}") from error


def _explain(error: object) -> str:
    assert isinstance(error, dict)
    where = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        known = [field.alias or name for name, field in Price.model_fields.items()]
        return f"unknown key {where!r}; expected one of {', '.join(known)}{nearest(str(error['loc'][-1]), known)}"
    return f"{where}: {error['msg'].lower()}"


def keep_prices(run_file: str) -> str:
    """Returns the text of a run file with the prices themselves instead of the path of their file.

    Later changes of the price file do not affect the cost of the run.

    Raises:
        OptionError: if the file cannot be read.
    """
    document = tomlkit.parse(run_file)
    path = document.get("prices")
    if not isinstance(path, str):
        return run_file
    del document["prices"]
    tables = tomlkit.aot()
    for price in read_prices(Path(path)):
        table = tomlkit.table()
        table.update(price.model_dump(by_alias=True, exclude_defaults=True))
        tables.append(table)
    document["price"] = tables
    return tomlkit.dumps(document)
