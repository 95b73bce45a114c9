# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which store the lab gets: a given binary, a release that was checked, or the stand-in."""

from __future__ import annotations

import hashlib
import io
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab import store
from lab.run import LabError


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(store, "CACHE", tmp_path)
    monkeypatch.setattr(store, "PLACE", tmp_path / "store" / "rustfs")
    monkeypatch.delenv("RUSTFS_BIN", raising=False)
    return tmp_path


def offered(monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes]) -> list[str]:
    """The release site has `files`; gives what is fetched from it."""
    fetched: list[str] = []

    def fetch(url: str) -> bytes:
        fetched.append(url.rpartition("/")[2])
        if fetched[-1] not in files:
            raise OSError("no answer")
        return files[fetched[-1]]

    monkeypatch.setattr(store, "_fetch", fetch)
    return fetched


def release(monkeypatch: pytest.MonkeyPatch, *, damaged: bool = False) -> list[str]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("rustfs", "#!/bin/sh\necho real\n")
    name = f"rustfs-linux-{store.platform.machine()}-musl-v{store.RUSTFS_VERSION}.zip"
    checksum = hashlib.sha256(archive.getvalue()).hexdigest()
    sums = f"{'0' * 64 if damaged else checksum}  {name}\n".encode()
    return offered(monkeypatch, {"SHA256SUMS": sums, name: archive.getvalue()})


def test_a_given_binary_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\necho mine\n")
    monkeypatch.setenv("RUSTFS_BIN", str(tmp_path / "mine"))
    binary = store.store_binary()
    assert subprocess.run([binary], capture_output=True, text=True).stdout == "mine\n"
    assert "from RUSTFS_BIN" in capsys.readouterr().out


def test_a_given_binary_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSTFS_BIN", "/no/such/rustfs")
    with pytest.raises(LabError, match="RUSTFS_BIN is /no/such/rustfs, which is no file"):
        store.store_binary()


def test_the_release_is_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = release(monkeypatch)
    assert subprocess.run([store.store_binary()], capture_output=True, text=True).stdout == "real\n"
    number = len(fetched)
    store.store_binary()
    assert len(fetched) == number == 2


def test_a_release_that_is_not_what_its_sums_say_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    release(monkeypatch, damaged=True)
    with pytest.raises(LabError, match="SHA256SUMS says 0000"):
        store.store_binary()
    assert not store.PLACE.exists()


def test_without_a_release_the_stand_in_is_used_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offered(monkeypatch, {})
    said = subprocess.run([store.store_binary(), "--version"], capture_output=True, text=True).stdout
    assert "stand-in" in said
    assert "the stand-in for RustFS" in capsys.readouterr().out
