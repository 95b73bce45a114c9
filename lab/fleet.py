# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job on the lab's hosts: site.yml, then what is served where, asked of the servers themselves."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from typing import Any

from lab.hosts import inventory_data, inventory_options
from lab.run import LabError, say
from lab.settings import CHECKOUT, SECRETS, SSH_KEY, Lab

PROMPT = "the quick brown"


def converge(lab: Lab, *options: str) -> None:
    """Runs site.yml on the lab's inventory, its output going to this terminal."""
    argv = [".venv/bin/ansible-playbook", "site.yml", *inventory_options(lab), *options]
    say(f"      {' '.join(argv)}")
    done = subprocess.run(argv, cwd=CHECKOUT, env={**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg")})
    if done.returncode:
        raise LabError(f"site.yml failed (exit {done.returncode}): see above. Mend the cause and run make lab again.")


def servers(lab: Lab) -> list[tuple[str, str, dict[str, Any]]]:
    """(host, base URL, instance) of every instance in the inventory."""
    found = []
    for host, facts in sorted(inventory_data(lab, CHECKOUT / ".venv").items()):
        for instance in facts.get("modelshelf_instances", []):
            found.append((host, f"http://{facts['ansible_host']}:{instance['port']}", instance))
    return found


def ask(url: str, body: dict[str, Any] | None = None, timeout: float = 60) -> Any:
    """The JSON answer of a server; raises OSError (urllib.error.URLError is one) when there is none."""
    key = json.loads(SECRETS.read_text())["vllm_api_key"]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the hosts are on this machine
    with opener.open(urllib.request.Request(url, data, headers), timeout=timeout) as answer:
        return json.load(answer)


def table(lab: Lab) -> None:
    """host -> instance, model, version, state: as each server itself says."""
    say(f"{'host':<10} {'instance':<10} {'model':<22} {'version':<10} state")
    for host, url, instance in servers(lab):
        try:
            served = ask(f"{url}/v1/models", timeout=5)["data"][0]
            model, version, state = served["id"], served["root"].rsplit("/", 1)[-1], f"serving on {url}"
        except (OSError, KeyError, IndexError) as error:
            model, version, state = instance["model"], "?", f"not serving: {error}"
        say(f"{host:<10} {instance['name']:<10} {model:<22} {version:<10} {state}")


def show(lab: Lab, addresses: dict[str, str]) -> None:
    """What `make lab` ends with: the table, a completion from every server, where to look next."""
    say("")
    table(lab)
    say(f"\nprompt: {PROMPT}")
    for host, url, instance in servers(lab):
        body = {"model": ask(f"{url}/v1/models")["data"][0]["id"], "prompt": PROMPT, "max_tokens": 8, "temperature": 0}
        try:
            text = ask(f"{url}/v1/completions", body)["choices"][0]["text"]
        except (OSError, KeyError, IndexError) as error:
            raise LabError(f"{host} ({url}) did not complete a prompt for {instance['model']}: {error}") from error
        say(f"completion: {text}    [{host}]")
    host, address = next((name, place) for name, place in addresses.items() if name != "store1")
    say(
        f"\nWhere to look next:\n"
        f"  make lab-status                                what runs\n"
        f"  .venv/bin/ansible-playbook site.yml            again: changes nothing\n"
        f"  ssh -i {SSH_KEY} root@{address}    {host}: systemctl list-units 'modelshelf-*'\n"
        f"  make lab-down                                  end it all"
    )
