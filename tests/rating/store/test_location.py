"""Addresses of runs in PostgreSQL: accepted and refused ones, and secrets are never shown."""

import traceback
from pathlib import Path

import pytest

from llmarena_envs.core.options import OptionError
from rating.store.address import parse_address
from rating.store.location import address_of, set_address

CERTIFICATE = Path(__file__).parents[2] / "support" / "self_signed.pem"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (
            "postgresql://me@db.example:6543/arena",
            {"user": "me", "host": "db.example", "port": 6543, "dbname": "arena"},
        ),
        ("postgres://db.example/arena", {"host": "db.example", "dbname": "arena"}),
        ("postgresql://m%40e@[::1]:6543/a%2Fb", {"user": "m@e", "host": "::1", "port": 6543, "dbname": "a/b"}),
        ("postgresql:///arena?host=/run/postgresql", {"host": "/run/postgresql", "dbname": "arena"}),
        ("postgresql://", {}),
        ("postgresql:///?sslmode=disable", {"sslmode": "disable"}),
        ("postgresql:///?sslmode=require", {"sslmode": "require"}),
        ("postgresql:///?sslmode=verify-full", {"sslmode": "verify-full", "sslrootcert": "system"}),
        (f"postgresql:///?sslrootcert={CERTIFICATE}", {"sslmode": "verify-full", "sslrootcert": str(CERTIFICATE)}),
        (
            f"postgresql:///?sslmode=verify-ca&sslrootcert={CERTIFICATE}",
            {"sslmode": "verify-ca", "sslrootcert": str(CERTIFICATE)},
        ),
    ],
)
def test_address_round_trips(text, arguments):
    address = parse_address(text)
    assert address.arguments() == arguments
    assert parse_address(address.url) == address
    assert ("sslmode=" in address.url) == ("sslmode" in arguments)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:geheim@h/d",
        "postgresql://me:geheim@h:port/d",
        "postgresql://h/d?password=geheim",
        "postgresql://h/d?PASSWORD=geheim&run=x",
        "postgresql://me:1/geheim@h/d",
        "postgresql://me:1?geheim@h/d",
        "postgresql://me:1#geheim@h/d",
        "postgresql://me:1@geheim@h/d",
        "postgresql://me:[geheim@h/d",
        "postgresql:/me:geheim@h/d",
        "postgresql://me:/geheim@h/d",
        "me:geheim@h/d",
        "host=h user=me password=geheim",
    ],
)
def test_a_password_is_refused_and_not_repeated(text):
    with pytest.raises(OptionError, match="PGPASSWORD") as error:
        parse_address(text)
    assert "geheim" not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mysql://h/d", "expected an address"),
        ("postgresql://h/d/e", "expected an address"),
        ("postgresql://h/d?sslmod=require", "did you mean 'sslmode'"),
        ("postgresql://h/d?sslmode=verify", "sslmode: expected one of"),
        ("postgresql://h/d?sslrootcert=/none.pem", "sslrootcert: expected a file"),
        (
            f"postgresql://h/d?sslmode=prefer&sslrootcert={CERTIFICATE}",
            "sslmode: expected require.* beside sslrootcert",
        ),
        (f"postgresql://h/d?sslmode=disable&sslcert={CERTIFICATE}", "sslmode: expected require.* beside sslcert"),
        ("postgresql://h/d?run=a%20b", "name of a run"),
        ('postgresql://h/d?run="; DROP SCHEMA x', "name of a run"),
        (f"postgresql://h/d?run={'x' * 51}", "name of a run"),
    ],
)
def test_parse_address_invalid_is_refused(text, message):
    with pytest.raises(OptionError, match=message):
        parse_address(text)


def test_a_directory_finds_its_certificates_from_everywhere(tmp_path, monkeypatch):
    (tmp_path / "ca.pem").write_bytes(CERTIFICATE.read_bytes())
    monkeypatch.chdir(tmp_path)
    set_address(tmp_path, parse_address("postgresql://h/d?sslrootcert=ca.pem&run=x"))
    monkeypatch.chdir("/")
    address = address_of(tmp_path)
    assert address is not None and address.options["sslrootcert"] == str(tmp_path / "ca.pem")
