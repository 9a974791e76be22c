"""Builds the site: the pages of ``docs``, pages made of the code, and the reference out of the docstrings.

``python docs/build_site.py --out DIR`` assembles the source in a temporary folder, builds it with zensical, where a warning is
an error, checks the result and puts it into ``DIR``. Nothing in it asks for anything outside. Its pages can be read as files;
the search needs a server, such as ``python -m http.server -d DIR``. Install the extra ``docs`` first.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from site_builder.assemble import DOCS, assemble
from site_builder.check import problems


def build(out: Path) -> list[str]:
    """Builds the site and returns its problems.

    Args:
        out: folder of the site; an earlier site there is replaced.

    Raises:
        ValueError: if ``out`` is a folder with anything else in it.
        subprocess.CalledProcessError: if zensical finds a mistake in a page, which it has printed.
    """
    if out.exists() and any(out.iterdir()) and not (out / "search.json").is_file():
        raise ValueError(f"--out: expected a new folder, an empty one or one with an older site, got {out}")
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve()
        assemble(project)
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        # Read the docstrings of this checkout, not of another installation.
        paths = [str(DOCS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        subprocess.run(command, check=True, cwd=project, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(project / "site", out)
    return problems(out)


def main() -> None:
    """Builds the site; ends with 1 if something is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the site")
    out = parser.parse_args().out
    try:
        found = build(out)
    except ValueError as error:
        parser.error(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    if found:
        sys.exit("\n".join(found))
    print(f"Site: {out / 'index.html'}")


if __name__ == "__main__":
    main()
