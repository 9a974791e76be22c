"""Builds the site: the pages of ``docs``, pages made of the code, and the reference out of the docstrings.

``python docs/build_site.py --out DIR`` assembles the source in a temporary folder, builds it with zensical, where a warning is
an error, checks the result and puts it into ``DIR``. Nothing in it asks for anything outside. Its pages can be read and searched
as files. Install the extra ``docs`` first.
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

SHIM = "https://unpkg.com/iframe-worker/shim"
WORKER = "worker_in_frame.js"


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
        own_worker(project / "site")
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(project / "site", out)
    return problems(out)


def own_worker(site: Path) -> None:
    """Replaces the script that lets the search run in pages opened as files, which the pages would load from outside."""
    shutil.copy(DOCS / "site_builder" / WORKER, site / "assets" / "javascripts" / WORKER)
    for page in site.rglob("*.html"):
        root = "../" * (len(page.relative_to(site).parts) - 1)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(SHIM, f"{root}assets/javascripts/{WORKER}"), encoding="utf-8")


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
