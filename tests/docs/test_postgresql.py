"""docs/postgresql.md on one machine: its certificate, door and roles, and every command of it, with this machine's name.

Without OpenSSL in the server and on the command line the page is followed without certificates.
"""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from rating.cli import main
from rating.errors import StoreError
from rating.play import run_directory
from rating.store import postgres
from rating.store.address import Address, parse_address
from rating.store.records import Record
from tests.docs.pages import code_blocks
from tests.docs.shell import commands
from tests.support.lacking import lack
from tests.support.postgres_server import PostgresServer, find_programs

pytestmark = pytest.mark.slow

BLOCKS = code_blocks("postgresql.md")
FILES = {block.title: block.text for block in BLOCKS if block.title}
TLS = "?sslmode=verify-full&sslrootcert=ca.crt"
PASSWORDS = {f"llmarena_{role}": f"pass-word of {role}" for role in ("owner", "reader")}


class Cluster:
    """A server as the page sets it up.

    Attributes:
        folder: where the commands of the page are given.
        server: the server.
        tls: whether it shows a certificate.
    """

    def __init__(self, folder: Path, server: PostgresServer) -> None:
        self.folder = folder
        self.server = server
        self.tls = bool(server.psql("SHOW ssl_library") and shutil.which("openssl"))

    def here(self, text: str) -> str:
        """Returns a text of the page, adapted to this machine."""
        if not self.tls:
            text = text.replace(TLS, "?sslmode=disable").replace("hostssl ", "host ")
            text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("ssl"))
        text = text.replace("@db.lab/", f"@localhost:{self.server.port}/")
        return text.replace("db.lab", "localhost").replace("10.0.0.0/24", "127.0.0.1/32")

    def commands(self, begin: str) -> list[list[str]]:
        """Returns the commands of the page that begin with a word or more, as lists of words."""
        known = [each for block in BLOCKS if block.language == "bash" for each in commands(self.here(block.text))]
        found = [shlex.split(each) for each in known if each.startswith(begin)]
        assert found, begin
        return found

    def address(self, role: str, options: str = TLS) -> Address:
        """Returns the address of the database for a role."""
        return parse_address(self.here(f"postgresql://llmarena_{role}@db.lab/llmarena{options}"))

    def set_up(self) -> None:
        """Sets up the database as the page describes."""
        data = self.server.directory
        if self.tls:
            for command in self.commands("openssl"):
                subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
            for name, mode in (("server.crt", 0o644), ("server.key", 0o600)):
                shutil.copy(self.folder / name, data)
                (data / name).chmod(mode)
                os.chown(data / name, data.stat().st_uid, data.stat().st_gid)
        for name, before in (("postgresql.conf", ""), ("pg_hba.conf", "host all postgres 127.0.0.1/32 trust\n")):
            (data / name).write_text(f"{before or (data / name).read_text()}\n{self.here(FILES[name])}")
        self.server.stop()
        self.server.start()
        (self.folder / "roles.sql").write_text(FILES["roles.sql"])
        psql = [self.server.programs / "psql", "-v", "ON_ERROR_STOP=1", "-q", "-d", self.server.url("postgres")]
        subprocess.run([*psql, "-f", self.folder / "roles.sql"], check=True)
        lines = []
        for role, password in PASSWORDS.items():
            self.server.psql(f"ALTER ROLE {role} PASSWORD '{password}'")
            lines.append(f"localhost:{self.server.port}:llmarena:{role}:{password}\n")
        (self.folder / "passwords").write_text("".join(lines))
        (self.folder / "passwords").chmod(0o600)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with PostgresServer(programs=find_programs(prefer_system=True)) as server:
        cluster = Cluster(tmp_path_factory.mktemp("cluster"), server)
        cluster.set_up()
        yield cluster


@pytest.fixture
def cluster(made: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The cluster, in whose folder commands are given, with the passwords and the server's programs."""
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("PATH", os.pathsep.join((str(made.server.programs), os.environ["PATH"])))
    monkeypatch.setenv("PGPASSFILE", str(made.folder / "passwords"))
    return made


@pytest.fixture
def certified(cluster: Cluster) -> Cluster:
    """The cluster, if it shows a certificate."""
    if not cluster.tls:
        lack(
            "there is no PostgreSQL with OpenSSL (the wheel has none), or no openssl: apt-get install postgresql openssl"
        )
    return cluster


@pytest.fixture
def run(cluster: Cluster) -> Iterator[str]:
    """The name of a run with one fact."""
    name = f"run{time.monotonic_ns()}"
    with closing(postgres.create(cluster.address("owner").of(name))) as db:
        db.command("INSERT INTO fact VALUES ('a', 'b')")
    yield name
    postgres.drop(cluster.address("owner").of(name))


REFUSED = (
    "INSERT INTO fact VALUES ('c', 'd')",
    "UPDATE match SET number = 7",
    "DELETE FROM call",
    "CREATE TABLE mine (a integer)",
    "CREATE SCHEMA mine",
    "CREATE TABLE public.mine (a integer)",
    "CREATE TEMPORARY TABLE mine (a integer)",
    "ALTER TABLE fact ADD COLUMN mine integer",
    "ALTER TABLE fact OWNER TO CURRENT_USER",
    "CREATE INDEX mine ON fact (value)",
    "TRUNCATE fact",
    "DROP TABLE fact",
    "COMMENT ON TABLE fact IS 'mine'",
    "CREATE ROLE mine",
    "COPY fact TO PROGRAM 'true'",
    "SET ROLE llmarena_owner",
)


TABLES = ("fact", "match", "turn", "transcript", "dictionary", "call")
FIND_RIGHTS = """
SELECT class.relname, CAST(class.relkind AS text), granted.privilege_type FROM pg_class AS class
LEFT JOIN LATERAL aclexplode(class.relacl) AS granted ON granted.grantee IN (0, CAST(:role AS regrole))
WHERE class.relnamespace = CAST(:schema AS regnamespace)
UNION ALL
SELECT class.relname, CAST(class.relkind AS text), granted.privilege_type || ' ' || attribute.attname FROM pg_class AS class
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid
JOIN LATERAL aclexplode(attribute.attacl) AS granted ON granted.grantee IN (0, CAST(:role AS regrole))
WHERE class.relnamespace = CAST(:schema AS regnamespace)
"""
"""Every relation of a schema, with the privileges of a role or of PUBLIC on it and on its columns."""


def test_readers_of_a_run_have_exactly_the_right_to_read(cluster: Cluster, run: str) -> None:
    found: dict[str, set[str]] = {}
    with closing(postgres.open_existing(cluster.address("owner").of(run))) as db:
        values = {"role": "llmarena_reader", "schema": f'"{db.address.schema}"'}
        for name, kind, right in db.all(text(FIND_RIGHTS), values):
            if kind != "i" and (kind != "S" or right):  # sequences only with privileges
                found.setdefault(name, set()).update({right} - {None})
    assert found == {table: {"SELECT"} for table in TABLES}


def test_readers_of_a_run_are_refused_writes_and_tables(cluster: Cluster, run: str) -> None:
    with closing(postgres.open_existing(cluster.address("reader").of(run))) as db:
        assert db.all(text("SELECT value FROM fact")) == [("b",)]
        for sql in REFUSED:
            with pytest.raises(StoreError, match=r"permission denied|must be (owner|superuser)"):
                db.command(sql)
    with pytest.raises(StoreError, match="permission denied"):
        postgres.create(cluster.address("reader").of("mine"))


def test_other_roles_have_no_access(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.server.psql("CREATE ROLE somebody LOGIN PASSWORD 'x'")
    monkeypatch.setenv("PGPASSWORD", "x")
    for role in ("somebody", "llmarena_reader"):
        address = cluster.address("reader").url.replace("llmarena_reader", role)
        with pytest.raises(StoreError, match=r"no pg_hba\.conf entry|password authentication failed") as error:
            postgres.open_existing(parse_address(address).of("any"))
        assert "pass-word" not in str(error.value)


@pytest.mark.needs
@pytest.mark.parametrize("reason", ["another authority", "another name", "no TLS"])
def test_server_without_valid_certificate_is_refused(
    reason: str, certified: Cluster, tmp_path: Path, postgres_url: str
) -> None:
    address = certified.address("reader").url
    if reason == "another authority":
        other = Cluster(tmp_path, certified.server)
        subprocess.run(other.commands("openssl")[0], cwd=tmp_path, check=True, capture_output=True)
        address, said = address.replace("ca.crt", str(tmp_path / "ca.crt")), "certificate verify failed"
    elif reason == "another name":
        address, said = (
            address.replace("localhost", "127.0.0.1"),
            "certificate for .* does not match host name .127.0.0.1",
        )
    else:
        address, said = f"{postgres_url}{TLS}", "TLS|SSL"
    with pytest.raises(StoreError, match=said) as error:
        postgres.open_existing(parse_address(address).of("any"))
    assert "pass-word" not in str(error.value)


@pytest.mark.needs
def test_without_tls_the_server_refuses(certified: Cluster) -> None:
    with pytest.raises(StoreError, match="no encryption"):
        postgres.open_existing(certified.address("reader", "?sslmode=disable").of("any"))


def test_the_commands_of_the_page_play_read_and_restore_a_run(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("study.toml", "store.json"):
        (cluster.folder / name).write_text(cluster.here(FILES[name]))
    assert main(cluster.commands("llmarena run")[0][1:]) == 0
    said = capsys.readouterr()
    assert "llmarena replay runs/study" in said.out.replace(str(cluster.folder) + "/", "")
    for begin in ("mkdir", "cp"):
        subprocess.run(cluster.commands(begin)[0], cwd=cluster.folder, check=True)
    for begin in ("llmarena rate", "llmarena report"):
        assert [main(command[1:]) for command in cluster.commands(begin)] == [0], begin
    shown = capsys.readouterr().out
    played = recorded(cluster.folder / "runs/study")
    assert {record.status for record in played[1]} == {"finished"} and not played[3]
    with closing(run_directory.open_store(cluster.folder / "runs/looked_at", read_only=True)) as store:
        assert (store.facts(), list(store.records())) == played[:2]
    for begin in ("pg_dump", "psql", "pg_restore"):
        subprocess.run(cluster.commands(begin)[0], cwd=cluster.folder, check=True)
    assert recorded(cluster.folder / "runs/study") == played
    (verify,) = cluster.commands("llmarena replay")
    assert main(verify[1:]) == 0
    for command in cluster.commands("psql")[1:]:
        shown += subprocess.run(command, cwd=cluster.folder, check=True, capture_output=True, text=True).stdout
    assert "llmarena_study" in shown  # in the list of runs, before it was deleted
    assert main(["rate", str(cluster.folder / "runs/study")]) == 2
    written = [path.read_bytes() for path in cluster.folder.rglob("*") if path.is_file() and path.name != "passwords"]
    texts = [*said, shown, *capsys.readouterr(), *(data.decode(errors="replace") for data in written)]
    assert not any(password in text for password in PASSWORDS.values() for text in texts)


def recorded(directory: Path) -> tuple[dict[str, str], list[Record], str, list[str]]:
    """Returns the records of a run, its seal and its problems."""
    with closing(run_directory.open_store(directory)) as store:
        return store.facts(), list(store.records()), store.sealed, store.check()
