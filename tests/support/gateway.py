# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A HAProxy that runs what the role gateway writes, on ports of the loopback address."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.model_servers import ModelServer, free_port

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-canary %key#1"
HEADERS = {"Authorization": f"Bearer {KEY}"}


def until(held: Callable[[], Any], seconds: float = 10) -> None:
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not held():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.05)


class Gateway:
    """The hosts gpu1, gpu2 and gpu3 serve `opt`, gpu3 serves `Org/Two` as well; `servers` has the four by name."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.config = folder / "haproxy.cfg"
        self.key_file = folder / "key"
        self.ports = {"opt": free_port(), "Org/Two": free_port()}
        self.metrics_port = free_port()
        self.settings = settings
        self.instances = {
            "gpu1:main": "opt",
            "gpu2:main": "opt",
            "gpu3:main": "opt",
            "gpu3:other": "Org/Two",
        }
        self.servers = {name: ModelServer(name) for name in self.instances}
        self.process: subprocess.Popen[bytes] | None = None

    def play(
        self, files: str, *arguments: str, lost: bool = False, **variables: Any
    ) -> subprocess.CompletedProcess[str]:
        """Runs task files of the role, whose names have blanks between them. `lost`: there is a dead one, too."""
        hosts: dict[str, Any] = {
            "gw1": {"gateway_metrics_port": self.metrics_port, "gateway_connections": 1000, **self.settings}
        }
        for name, model in self.instances.items():
            host, instance = name.split(":")
            entry = {"name": instance, "model": model, "port": self.servers[name].port}
            given = hosts.setdefault(host, {"vllm_address": "127.0.0.1", "modelshelf_instances": []})
            given["modelshelf_instances"].append(entry)
        endpoints = [{"model": model, "port": port} for model, port in self.ports.items()]
        common = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "modelshelf_vllm_api_key": KEY,
            "modelshelf_models": [{"name": model, "version": "v1"} for model in self.ports],
            "gateway_endpoints": endpoints,
            "gateway_address": "127.0.0.1",
        }
        inventory = self.folder / "hosts.json"
        silent = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9}
        group = {"hosts": {**({"gw0": silent} if lost else {}), "gw1": {}}}
        content = {"all": {"vars": common, "hosts": hosts, "children": {"gateway": group}}}
        inventory.write_text(json.dumps(content), encoding="utf-8")
        paths = {
            "__gateway_config": str(self.config),
            "__gateway_key_file": str(self.key_file),
            "__gateway_socket": str(self.folder / "socket"),
        }
        extra = json.dumps({**paths, "files": files.split(), **variables})
        playbook = Path(sys.executable).with_name("ansible-playbook")
        command = [playbook, "-i", inventory, ROOT / "tests/support/gateway.yml", "-e", extra, *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    def start(self) -> None:
        for server in self.servers.values():
            server.start()
        self.run()

    def run(self) -> None:
        """Starts HAProxy, and waits until it knows how its servers are."""
        self.process = subprocess.Popen(["haproxy", "-W", "-f", self.config], stderr=subprocess.DEVNULL)
        until(lambda: self.ask("show info"))

    def reload(self) -> None:
        """Does what systemd does for a reload, and waits until the new process has taken over.

        HAProxy loses a signal that comes just as it has loaded a configuration.
        """
        assert self.process
        until(lambda: int(self.info("Uptime_sec") or 0) >= 1)
        before = self.pid()
        self.process.send_signal(signal.SIGUSR2)
        until(lambda: self.pid() not in ("", before))

    def kill(self) -> None:
        """Ends HAProxy in the worst way, and what it was doing with it."""
        assert self.process
        worker = self.pid()
        self.process.kill()
        self.process.wait()
        subprocess.run(["kill", "-9", worker], check=False, capture_output=True)
        until(lambda: not self.ask("show info"))

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()
        for server in self.servers.values():
            server.released.set()
            server.healthy.set()
            server.stop()

    def ask(self, command: str) -> str:
        """What the running process answers; empty while there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(str(self.folder / "socket"))
                connection.sendall(f"{command}\n".encode())
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""

    def pid(self) -> str:
        return self.info("Pid")

    def info(self, name: str) -> str:
        """What the running process says about itself under that name; empty while there is none."""
        found = re.search(rf"^{name}: (.*)$", self.ask("show info"), re.M)
        return found.group(1) if found else ""

    def state(self, name: str) -> str:
        """The state of a server in HAProxy's words, such as UP or DOWN."""
        return self.column(name, 17)

    def weight(self, name: str) -> str:
        return self.column(name, 18)

    def column(self, name: str, number: int) -> str:
        """What HAProxy's table of states has about a server; empty when there is none."""
        for line in self.ask("show stat").splitlines():
            fields = line.split(",")
            if len(fields) > number and fields[1] == name:
                return fields[number]
        return ""

    def request(
        self, path: str, *, model: str = "opt", headers: dict[str, str] = HEADERS, body: bytes | None = None
    ) -> tuple[int, str]:
        """Status and text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[model], timeout=60)
        connection.request("POST" if body else "GET", path, body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def answers(self, count: int) -> list[str]:
        """Who answers that many requests, which all have to be answered."""
        found = [self.request("/v1/completions") for _number in range(count)]
        assert {status for status, _text in found} == {200}, found
        return [text.split()[0] for _status, text in found]

    def stream(self, path: str = "/v1/stream") -> http.client.HTTPResponse:
        """An answer that has begun and goes on until its server is released."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["opt"], timeout=60)
        connection.request("GET", path, headers=HEADERS)
        return connection.getresponse()
