# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret is to be found where it does not belong: on the hosts, and in what the playbook says."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.fleet import RESULTS, Run, host, play
from tests.support.serving import API_KEY, SERVER, environ, generated_secrets, pid

# The part of each of the tests' own secrets that no way of quoting changes; the lab's have no such characters.
CORES = ["canary-root-2d4f", "canary-writer-b7c1", "canary-reader-5e0d", "canary-apikey-93fa", *generated_secrets()]
OTHER = "canary-other-77aa"
HOSTS = ["store1", "gpu1", "gpu2"]
DETAIL = {"ANSIBLE_INJECT_INVOCATION": "1"}


def found(text: str) -> list[str]:
    return [core for core in (*CORES, OTHER) if core in text]


@pytest.fixture(scope="module", autouse=True)
def patterns() -> None:
    """The secrets as a file on every host, for grep: root's alone, so it is not found by itself."""
    for name in HOSTS:
        lines = "\n".join(CORES)
        host(name).check_output(f"umask 077 && cat > /root/secrets <<'END'\n{lines}\nEND\n")


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize(
    "command",
    [
        "ps -e -ww -o args",
        "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'",
        "systemctl show '*' --all --no-pager",
        "systemctl cat 'modelshelf-*' --no-pager",
        "journalctl --quiet --no-pager --output=verbose --all",
        "cat /etc/systemd/system/*.service /etc/systemd/system/*/*.conf",
    ],
)
def test_a31_process_list_units_and_journal_have_no_secret(name: str, command: str) -> None:
    listed = host(name).run(f"{command} > /run/listed; wc -l < /run/listed")
    assert int(listed.stdout) > 3, listed.stderr
    assert host(name).run("grep --text -F -f /root/secrets /run/listed").stdout == ""


@pytest.mark.parametrize("name", HOSTS)
def test_no_file_that_others_can_read_has_a_secret(name: str) -> None:
    """Everything that `nobody` can read, mounts and processes included, is read."""
    places = "/etc /home /opt/modelshelf /root /run /srv /tmp /usr/local /var"
    as_nobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
    search = f"{as_nobody} grep -r -s -l -F -f - {places} < /root/secrets"
    assert host(name).run(search).stdout == ""


@pytest.mark.parametrize("name", ["gpu1", "gpu2"])
def test_user_of_the_servers_reads_no_secret_from_the_disk(name: str) -> None:
    places = "/etc /srv /var/lib/modelshelf /var/cache/modelshelf /run /tmp"
    search = (
        f"setpriv --reuid=modelshelf --regid=modelshelf --clear-groups grep -r -s -l -F -f - {places} < /root/secrets"
    )
    assert host(name).run(search).stdout == ""


def test_the_search_finds_what_is_there() -> None:
    """The searches above say nothing when they look for the wrong thing."""
    places = "/etc/modelshelf /var/lib/modelshelf"
    assert host("gpu1").check_output(f"grep -r -l -F -f /root/secrets {places} | sort").splitlines() == [
        "/etc/modelshelf/rclone.conf",
        *sorted(host("gpu1").check_output("ls /var/lib/modelshelf/instances/main/generations/*/env").splitlines()),
    ]
    assert host("store1").check_output(f"grep -r -l -F -f /root/secrets {places} 2>/dev/null || true") == (
        "/etc/modelshelf/rustfs/secret-key"
    )
    assert environ("gpu1", pid("gpu1", SERVER))["VLLM_API_KEY"] == API_KEY
    assert found(API_KEY) == ["canary-apikey-93fa"]


def test_a35_check_run_on_bare_hosts_showed_no_secret() -> None:
    """Recorded before the first real run, in full detail: every task that handles a secret had something to change."""
    text = (RESULTS / "bare-check.json").read_text()
    assert "Write the settings of rclone" in text
    assert found(text) == []


def extra(name: str, value: str) -> str:
    return f"--extra-vars={name}='{value}'"


RUNS: dict[str, tuple[list[str], Callable[[Run], bool], str]] = {
    "nothing to do": (["--limit=gpu1"], lambda run: run.status == 0, "Prove that the instance serves"),
    "another key of the servers, in check mode": (
        ["--check", extra("modelshelf_vllm_api_key", OTHER), "--limit=gpu1"],
        lambda run: run.status == 0 and run.changed()["gpu1"] > 0,
        "VLLM_API_KEY (changed)",
    ),
    "the gate with a wrong key": (
        ["--tags=verify", extra("modelshelf_vllm_api_key", OTHER), "--limit=gpu1"],
        lambda run: run.status != 0,
        "401",
    ),
    "another secret of a reader's key": (
        ["--tags=access", extra("modelshelf_reader_secret_key", OTHER)],
        lambda run: run.status != 0,
        "Make the access keys",
    ),
    "the rights of a reader with a wrong key": (
        ["--tags=verify", extra("modelshelf_reader_secret_key", OTHER)],
        lambda run: run.status != 0,
        "Try the rights of the readers",
    ),
    "identities with a wrong root key": (
        ["--tags=access", extra("modelshelf_root_secret_key", OTHER)],
        lambda run: run.status != 0,
        "Make the buckets",
    ),
    "publishing with a wrong key": (
        ["--tags=publish", extra("modelshelf_writer_secret_key", OTHER)],
        lambda run: run.status != 0,
        "Publish the models that have a directory",
    ),
    "a key that rclone cannot hold": (
        ["--tags=mount", extra("modelshelf_reader_secret_key", f"{OTHER}%(x)s"), "--limit=gpu1"],
        lambda run: run.status != 0,
        "which rclone would read as something else",
    ),
    "a key that systemd cannot hold": (
        [
            "--check",
            "--tags=serve",
            "--extra-vars=" + json.dumps({"modelshelf_vllm_api_key": f"{OTHER}\1"}),
            "--limit=gpu1",
        ],
        lambda run: run.status != 0,
        "control character",
    ),
    "another key of rclone, in check mode": (
        ["--check", "--tags=mount", extra("modelshelf_reader_secret_key", OTHER), "--limit=gpu1"],
        lambda run: run.status == 0 and run.changed()["gpu1"] > 0,
        "Write the settings of rclone",
    ),
    "another key of the store, in check mode": (
        ["--check", extra("modelshelf_root_secret_key", OTHER)],
        lambda run: run.status == 0 and run.changed()["store1"] > 0,
        "the store would get other root keys first",
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_a35_output_in_full_detail_has_no_secret(case: str) -> None:
    arguments, expected, sign = RUNS[case]
    run = play("-vvv", "--diff", *arguments, **DETAIL)
    assert sign in run.output, run.output[-3000:]
    assert expected(run), run.output[-3000:]
    assert found(run.output) == []
