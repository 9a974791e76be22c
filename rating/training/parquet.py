"""Rows as Parquet, in shards of bounded size; needs the extra ``parquet``."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs.core.options import OptionError

GROUP_ROWS = 1000
GROUP_CHARACTERS = 8_000_000
"""Row groups are written at this size, to bound memory use."""
SHARD_BYTES = 300_000_000
"""A new file is started at this size."""


class Written(NamedTuple):
    """The number of rows written, and their size in memory, in bytes."""

    rows: int
    bytes: int


def write_shards(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Any], directory: Path) -> Written:
    """Writes rows into ``train-00000.parquet`` and so on; writes no file without a row.

    Args:
        rows: the rows.
        columns: column types: a type name, a list with the type of its items, or a table with the types of its fields.
        directory: the target directory; must exist.

    Raises:
        OptionError: if pyarrow is not installed.
    """
    check_installed()
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])
    groups, written, size, shard = _groups(rows), 0, 0, 0
    group = next(groups, None)
    while group is not None:
        path = directory / f"train-{shard:05}.parquet"
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            while group is not None:
                table = pyarrow.Table.from_pylist(group, schema)
                writer.write_table(table)
                written, size = written + len(group), size + table.nbytes
                group = next(groups, None)
                if path.stat().st_size > SHARD_BYTES:
                    break
        shard += 1
    return Written(written, size)


def check_installed() -> None:
    """Checks that pyarrow is installed.

    Raises:
        OptionError: if it is not.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise OptionError(f"parquet: expected pyarrow, but {error}; pip install 'llmarena-envs[parquet]'") from error


def _arrow_type(kind: Any) -> Any:
    import pyarrow

    if isinstance(kind, list):
        return pyarrow.list_(_arrow_type(kind[0]))
    if isinstance(kind, dict):
        return pyarrow.struct([(name, _arrow_type(of)) for name, of in kind.items()])
    return getattr(pyarrow, {"bool": "bool_"}.get(kind, kind))()


def _groups(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    group: list[Mapping[str, Any]] = []
    characters = 0
    for row in rows:
        group.append(row)
        characters += len(json.dumps(row, ensure_ascii=False))
        if len(group) == GROUP_ROWS or characters > GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group
