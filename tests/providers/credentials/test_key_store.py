"""Tests of finding and storing keys."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from types import ModuleType

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, StateUnavailable
from jupyter_ai_shoulders.providers.credentials.key_store import Key, KeyStore, system_keyring

NAME = "LAB_API_KEY"
VALUE = "lab-key-0123456789"


class FakeKeyring:
    """A keyring on a dictionary, or a broken one."""

    def __init__(self, *, broken: bool = False) -> None:
        self.kept: dict[str, str] = {}
        self.asked = 0
        self._broken = broken

    def get_password(self, service: str, username: str, /) -> str | None:
        self.asked += 1
        self._fail()
        return self.kept.get(username)

    def set_password(self, service: str, username: str, password: str, /) -> None:
        self._fail()
        self.kept[username] = password

    def delete_password(self, service: str, username: str, /) -> None:
        self._fail()
        del self.kept[username]

    def _fail(self) -> None:
        if self._broken:
            raise RuntimeError("locked")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".shoulders" / "keys.env"


def test_environment_wins_over_keyring_and_file(file: Path) -> None:
    environ: dict[str, str] = {}
    keyring = FakeKeyring()
    store = KeyStore(file, environ, keyring)
    assert store.get(NAME) is None
    file.parent.mkdir(parents=True)
    file.write_text(f"{NAME}=from-file-0123\n")
    assert store.get(NAME) == Key("from-file-0123", "file")
    keyring.kept[NAME] = "from-keyring-0123"
    store = KeyStore(file, environ, keyring)
    assert store.get(NAME) == Key("from-keyring-0123", "keyring")
    environ[NAME] = " from-environment-0123 "
    assert store.get(NAME) == Key("from-environment-0123", "environment")
    assert store.values([NAME]) == (
        "from-environment-0123",
        "from-file-0123",
        "from-keyring-0123",
    )


def test_empty_variable_counts_as_absent(file: Path) -> None:
    assert KeyStore(file, {NAME: "  "}).get(NAME) is None


def test_stored_key_is_found_again_and_private(file: Path) -> None:
    store = KeyStore(file, {})
    assert store.set(NAME, f" {VALUE}\n") == Key(VALUE, "file")
    assert KeyStore(file, {}).get(NAME) == Key(VALUE, "file")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["keys.env"]


def test_other_lines_of_the_file_stay(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(f"# mine\nexport OTHER='a b'\n{NAME} = old\n\nnonsense\n")
    store = KeyStore(file, {})
    assert store.get("OTHER") == Key("a b", "file")
    store.set(NAME, VALUE)
    assert file.read_text() == f"# mine\nexport OTHER='a b'\n\nnonsense\n{NAME}={VALUE}\n"
    store.remove(NAME)
    assert store.get(NAME) is None
    assert file.read_text() == "# mine\nexport OTHER='a b'\n\nnonsense\n"


def test_edited_file_is_read_anew(file: Path) -> None:
    store = KeyStore(file, {})
    store.set(NAME, VALUE)
    file.write_text(f'{NAME}="another-key-0123"\n')
    assert store.get(NAME) == Key("another-key-0123", "file")


def test_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "keys.env"
    kept.parent.mkdir()
    kept.write_text("")
    file.parent.mkdir(parents=True)
    file.symlink_to(kept)
    KeyStore(file, {}).set(NAME, VALUE)
    assert file.is_symlink()
    assert kept.read_text() == f"{NAME}={VALUE}\n"


def test_keyring_is_preferred_and_the_file_emptied(file: Path) -> None:
    KeyStore(file, {}).set(NAME, "old-key-0123456")
    keyring = FakeKeyring()
    store = KeyStore(file, {}, keyring)
    assert store.set(NAME, VALUE) == Key(VALUE, "keyring")
    assert keyring.kept == {NAME: VALUE}
    assert file.read_text() == ""
    store.remove(NAME)
    assert keyring.kept == {}
    assert store.get(NAME) is None


def test_keyring_is_asked_once(file: Path) -> None:
    keyring = FakeKeyring()
    store = KeyStore(file, {}, keyring)
    for _ in range(3):
        store.get(NAME)
    assert keyring.asked == 1


def test_broken_keyring_falls_back_to_the_file(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = KeyStore(file, {}, FakeKeyring(broken=True))
    assert store.set(NAME, VALUE) == Key(VALUE, "file")
    assert store.get(NAME) == Key(VALUE, "file")
    assert "RuntimeError" in caplog.text
    assert VALUE not in caplog.text


def test_key_of_the_environment_is_neither_replaced_nor_removed(file: Path) -> None:
    store = KeyStore(file, {NAME: VALUE})
    with pytest.raises(Conflict, match="environment"):
        store.set(NAME, "another-key-0123")
    with pytest.raises(Conflict, match="environment"):
        store.remove(NAME)
    assert not file.exists()


@pytest.mark.parametrize("value", ["", "  ", "a b", "a\nB=1", "schlüssel", "x" * 5000, "a\x00b"])
def test_what_cannot_be_a_key_is_refused(file: Path, value: str) -> None:
    with pytest.raises(InvalidRequest, match="not a key"):
        KeyStore(file, {}).set(NAME, value)
    assert not file.exists()


def test_removing_what_is_not_there_does_nothing(file: Path) -> None:
    KeyStore(file, {}).remove(NAME)
    assert not file.exists()


def test_unwritable_place_is_named(file: Path) -> None:
    file.parent.parent.mkdir(parents=True)
    file.parent.write_text("a file where the directory should be")
    with pytest.raises(StateUnavailable, match=r"keys\.env cannot be written"):
        KeyStore(file, {}).set(NAME, VALUE)


@pytest.mark.parametrize(("value", "last4"), [(VALUE, "6789"), ("short-key", None)])
def test_last_characters_are_shown_of_long_keys_only(value: str, last4: str | None) -> None:
    key = Key(value, "file")
    assert key.last4 == last4
    assert value not in repr(key)


def test_without_a_real_keyring_the_file_is_used(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The package is an optional extra; with it, the tests' environment names its failing one."""
    assert os.environ["PYTHON_KEYRING_BACKEND"] == "keyring.backends.fail.Keyring"
    store = KeyStore(file, {}, system_keyring())
    assert store.set(NAME, VALUE) == Key(VALUE, "file")
    assert store.get(NAME) == Key(VALUE, "file")
    store.remove(NAME)
    assert caplog.text == ""


@pytest.mark.parametrize(("priority", "source"), [(5, "keyring"), (0.5, "file"), (-1, "file")])
def test_installed_keyring_is_used_when_its_back_end_is_real(
    file: Path, monkeypatch: pytest.MonkeyPatch, priority: float, source: str
) -> None:
    backend = FakeKeyring()
    monkeypatch.setattr(backend, "priority", priority, raising=False)
    package = ModuleType("keyring")
    monkeypatch.setattr(package, "get_keyring", lambda: backend, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", package)
    store = KeyStore(file, {}, system_keyring())
    assert store.set(NAME, VALUE).source == source
    store.remove(NAME)
    assert store.get(NAME) is None
