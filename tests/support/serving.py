# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers as a client and as systemd see them, and the secrets that they and the store are given."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import yaml

from lab.settings import CHECKOUT, SECRETS
from tests.support.fleet import ADDRESSES, LAB, host

MODEL = "tiny-qwen2"
MOUNTPOINT = f"/srv/modelshelf/weights/{MODEL}"
SERVER = "modelshelf-vllm@main.service"
MOUNT = f"modelshelf-weights-{MODEL}.service"
PROMPT = "the quick brown"
BROWN = " brown brown brown"
"""What the first tokens of tiny-qwen2's answer to the prompt are."""

CANARIES: dict[str, Any] = yaml.safe_load((CHECKOUT / LAB.inventories[-1] / "group_vars/all.yml").read_text())
API_KEY = CANARIES["modelshelf_vllm_api_key"]


def generated_secrets() -> list[str]:
    """The secrets that the lab made for itself. The access keys beside them are names, and are shown."""
    made: dict[str, str] = json.loads(SECRETS.read_text())
    return [value for name, value in made.items() if not name.endswith("access_key")]


def ask(
    name: str, path: str, body: dict[str, Any] | None = None, *, key: str = API_KEY, port: int = 8000
) -> tuple[int, Any]:
    """Status and JSON answer of a host's server; raises OSError when there is no answer at all."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(f"http://{ADDRESSES[name]}:{port}{path}", data, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the hosts are on this machine
    try:
        with opener.open(request, timeout=30) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def complete(name: str, model: str = MODEL, *, key: str = API_KEY, port: int = 8000) -> str:
    """The text with which a host's server completes the prompt; raises OSError when it does not."""
    body = {"model": model, "prompt": PROMPT, "max_tokens": 3, "temperature": 0}
    status, answer = ask(name, "/v1/completions", body, key=key, port=port)
    if status != 200:
        raise OSError(f"{name}: {status} {answer}")
    return str(answer["choices"][0]["text"])


def answers(name: str) -> bool:
    """Whether a host's server completes the prompt now."""
    try:
        return bool(complete(name))
    except OSError:
        return False


def root(name: str, port: int = 8000) -> str:
    """The directory that a host's server says it serves from; raises OSError when there is no answer at all."""
    return str(ask(name, "/v1/models", port=port)[1]["data"][0]["root"])


def show(name: str, unit: str, *properties: str) -> dict[str, str]:
    """Properties of a unit, as systemd has them."""
    text = host(name).check_output(f"systemctl show {' '.join(f'-p {item}' for item in properties)} '{unit}'")
    return dict(line.split("=", 1) for line in text.splitlines())


def pid(name: str, unit: str = SERVER) -> int:
    """The main process of a unit; 0 when it does not run."""
    return int(show(name, unit, "MainPID")["MainPID"])


def pids(*names: str) -> dict[str, tuple[int, int]]:
    """Host -> main processes of its server and its mount: the same ones mean that nothing was restarted."""
    return {name: (pid(name), pid(name, MOUNT)) for name in names}


def reloads(name: str) -> int:
    """How often systemd of a host has read its units again."""
    return int(host(name).check_output("journalctl --quiet --output=cat _PID=1 | grep -c '^Reloading' || true"))


def argv(name: str, process: int) -> list[str]:
    """The arguments of a process, exactly."""
    return host(name).check_output(f"tr '\\0' '\\n' < /proc/{process}/cmdline").split("\n")


def environ(name: str, process: int) -> dict[str, str]:
    """The environment of a process, exactly."""
    lines = host(name).check_output(f"tr '\\0' '\\n' < /proc/{process}/environ").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def as_user(name: str, command: str, user: str = "modelshelf") -> Any:
    """Runs a command on a host as a user, with that user's groups alone."""
    return host(name).run(f"setpriv --reuid={user} --regid={user} --clear-groups -- sh -c %s", command)


def manifest(name: str, version: str = "v1", mountpoint: str = MOUNTPOINT) -> dict[str, Any]:
    """The manifest of a version, read through the mount as the servers' user."""
    done = as_user(name, f"cat {mountpoint}/{version}/.modelshelf/manifest.json")
    assert done.rc == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data
