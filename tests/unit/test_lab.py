# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab reads off the machine it runs on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lab import hosts, machine, sandbox
from lab.run import LabError, run
from lab.settings import Lab, fingerprint

LAB = Lab("lab", (), "10.89.50", "10.88.250")


def etc(folder: Path, release: str, files: dict[str, str]) -> Path:
    (folder / "apt/sources.list.d").mkdir(parents=True)
    (folder / "os-release").write_text(release)
    for name, text in files.items():
        (folder / "apt" / name).write_text(text)
    return folder


def test_sources_of_a_newer_debian_are_read_for_the_hosts_suite(tmp_path: Path) -> None:
    stanza = (
        "Types: deb\n# a comment\nURIs: http://mirror.example/debian\nSuites: trixie trixie-updates\nComponents: main\n"
    )
    security = "Types: deb\nURIs: http://mirror.example/security\nSuites: trixie-security\nComponents: main contrib\n"
    other = "Types: deb\nURIs: https://other.example\nSuites: stable\nComponents: main\n"
    files = {"sources.list.d/debian.sources": f"{stanza}\n{security}", "sources.list.d/other.sources": other}
    found = machine.debian_sources("bookworm", etc(tmp_path, 'ID=debian\nVERSION_CODENAME="trixie"\n', files))
    assert "URIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\n" in found
    assert "URIs: http://mirror.example/security\nSuites: bookworm-security\n" in found
    assert "other.example" not in found
    assert "trixie" not in found


def test_sources_in_one_line_form_are_read(tmp_path: Path) -> None:
    lines = "deb [arch=amd64] http://mirror.example/debian bookworm main\ndeb-src http://mirror.example bookworm main\n"
    found = machine.debian_sources(
        "bookworm", etc(tmp_path, "ID=debian\nVERSION_CODENAME=bookworm\n", {"sources.list": lines})
    )
    assert found.count("Types: deb\n") == 1
    assert "URIs: http://mirror.example/debian\nSuites: bookworm\n" in found


def test_an_ubuntu_machine_has_no_debian_sources(tmp_path: Path) -> None:
    lines = "deb http://mirror.example/ubuntu noble main\n"
    release = "ID=ubuntu\nVERSION_CODENAME=noble\n"
    assert machine.debian_sources("bookworm", etc(tmp_path, release, {"sources.list": lines})) == ""


def test_pip_configuration_is_read_from_every_level(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ":env:.cert='/a.crt'\nglobal.find-links='/wheels /more'\nglobal.index-url='https://index.example/simple'\nglobal.quiet='1'\n"
    monkeypatch.setattr(machine, "run", lambda argv: listed)
    expected = {"cert": ["/a.crt"], "find-links": ["/wheels", "/more"], "index-url": ["https://index.example/simple"]}
    assert machine.pip_options(Path("/venv")) == expected


def test_a_lab_whose_first_process_is_gone_is_held_by_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("lab.settings.STATE", tmp_path)
    (tmp_path / "lab").mkdir()
    ours = {"pid": str(os.getpid()), "started": "1", "checkout": "/elsewhere"}
    (tmp_path / "lab/holder.json").write_text(json.dumps(ours))
    assert sandbox.holder(LAB) is None


def test_a_lab_of_another_checkout_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("lab.settings.STATE", tmp_path)
    (tmp_path / "lab").mkdir()
    started = Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()[19]
    held = {"pid": str(os.getpid()), "started": started, "checkout": "/elsewhere/checkout"}
    (tmp_path / "lab/holder.json").write_text(json.dumps(held))
    with pytest.raises(LabError, match=f"/elsewhere/checkout .pid {os.getpid()}"):
        sandbox.check_free(LAB)


def test_secrets_are_made_once_and_for_their_owner_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hosts, "SSH_KEY", tmp_path / "ssh/key")
    monkeypatch.setattr(hosts, "SECRETS", tmp_path / "secrets.json")
    hosts.make_secrets()
    first = (tmp_path / "secrets.json").read_text()
    hosts.make_secrets()
    assert (tmp_path / "secrets.json").read_text() == first
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ssh/key").stat().st_mode & 0o777 == 0o600
    made = json.loads(first)
    assert len(set(made.values())) == len(made) == 7
    del made["root_access_key"]
    (tmp_path / "secrets.json").write_text(json.dumps(made))
    hosts.make_secrets()
    assert made.items() < json.loads((tmp_path / "secrets.json").read_text()).items()


def test_a_failed_command_is_told_with_its_last_lines() -> None:
    with pytest.raises(LabError, match=r"ended with 3\n    the reason"):
        run(["sh", "-c", "echo the reason >&2; exit 3"])


def test_a_fingerprint_changes_with_every_part(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    first = fingerprint("x", tmp_path / "file")
    (tmp_path / "file").write_text("b")
    assert len({first, fingerprint("x", tmp_path / "file"), fingerprint("xb"), fingerprint("x", "c")}) == 4


def test_the_last_lab_to_end_is_not_this_one_while_another_checkout_holds_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state, forward, none = tmp_path / "state", tmp_path / "forward", Lab("none-such", (), "10.89.99", "10.88.99")
    monkeypatch.setattr("lab.settings.STATE", state)
    monkeypatch.setattr(sandbox, "IP_FORWARD", forward)
    monkeypatch.setattr(sandbox, "_cgroup", lambda lab: tmp_path / "no-cgroup")
    other = state / "unknown-here" / "holder.json"
    other.parent.mkdir(parents=True)
    started = Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()[19]
    other.write_text(json.dumps({"pid": str(os.getpid()), "started": started, "checkout": "/elsewhere"}))
    (state / "ip_forward").write_text("0")
    forward.write_text("1")
    sandbox.stop(none)
    assert (other.exists(), forward.read_text()) == (True, "1")
    other.unlink()
    sandbox.stop(none)
    assert (state.exists(), forward.read_text()) == (False, "0")
