# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role gateway writes, run by a real HAProxy: requests, keys, dead servers, faults."""

from __future__ import annotations

import http.client
import stat
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.gateway import HEADERS, KEY, Gateway, until


@pytest.fixture(autouse=True)
def all_up(gateway: Gateway) -> None:
    until(lambda: all(gateway.state(name) == "UP" for name in gateway.instances), seconds=30)


def test_port_leads_to_the_servers_of_its_model(gateway: Gateway) -> None:
    assert set(gateway.answers(9)) == {"gpu1:main", "gpu2:main", "gpu3:main"}
    assert gateway.request("/v1/models", model="Org/Two") == (200, "gpu3:other 0")


@pytest.mark.parametrize("path", ["/v1/models", "/metrics", "/tokenize", "/health", "/", "/docs"])
def test_every_path_needs_the_key(gateway: Gateway, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer"}, {"Authorization": KEY}):
        assert gateway.request(path, headers=headers) == (401, '{"error":"Unauthorized"}')
    assert gateway.request(path)[0] == 200
    assert gateway.request(path, headers={"Authorization": f"bearer {KEY}"})[0] == 200


def test_a31_key_is_in_no_file(gateway: Gateway) -> None:
    for path in (gateway.config, gateway.key_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert KEY not in path.read_text(encoding="utf-8")


def test_body_of_100_mb_arrives(gateway: Gateway) -> None:
    size = 100_000_000
    status, text = gateway.request("/v1/chat/completions", body=bytes(size))
    assert (status, text.split()[1]) == (200, str(size))


def test_parts_of_an_answer_arrive_as_they_are_sent(gateway: Gateway) -> None:
    answer = gateway.stream()
    name = answer.readline().decode().split()[1]
    assert not gateway.servers[name].released.is_set()
    gateway.servers[name].released.set()
    assert answer.read() == b"\ndata: [DONE]\n\n"
    gateway.servers[name].released.clear()


def test_server_learns_that_its_client_has_gone(gateway: Gateway) -> None:
    server = gateway.servers["gpu3:other"]
    client = http.client.HTTPConnection("127.0.0.1", gateway.ports["Org/Two"])
    client.request("GET", "/v1/wait", headers=HEADERS)
    until(lambda: "/v1/wait" in server.paths)
    assert not server.deserted.is_set()
    client.close()
    assert server.deserted.wait(10)


def test_requests_for_a_server_that_died_are_answered_by_others(gateway: Gateway) -> None:
    gateway.servers["gpu1:main"].stop()
    assert set(gateway.answers(30)) == {"gpu2:main", "gpu3:main"}
    until(lambda: gateway.state("gpu1:main") == "DOWN")
    gateway.servers["gpu1:main"].start()


def test_server_that_hangs_is_ejected_after_three_checks(gateway: Gateway) -> None:
    server = gateway.servers["gpu2:main"]
    server.healthy.clear()
    server.health_checks = 0
    until(lambda: gateway.state("gpu2:main") == "DOWN", seconds=30)
    assert server.health_checks in (2, 3, 4), "one can have begun before, one after"
    assert "gpu2:main" not in gateway.answers(9)
    server.healthy.set()


def test_request_that_a_server_has_got_is_not_sent_again(gateway: Gateway) -> None:
    before = sum(len(server.paths) for server in gateway.servers.values())
    assert gateway.request("/v1/silent")[0] == 502
    assert sum(len(server.paths) for server in gateway.servers.values()) == before + 1


def test_metrics_have_a_port_of_their_own(gateway: Gateway) -> None:
    url = f"http://127.0.0.1:{gateway.metrics_port}"
    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    assert 'haproxy_server_status{proxy="opt",server="gpu1:main",state="UP"} 1' in text
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{url}/v1/models")


def test_reloads_lose_no_request_of_clients_that_keep_their_connections(gateway: Gateway) -> None:
    found: list[str] = []
    stop = threading.Event()

    def load() -> None:
        client = http.client.HTTPConnection("127.0.0.1", gateway.ports["opt"], timeout=60)
        while not stop.wait(0.002):
            client.request("GET", "/v1/completions", headers=HEADERS)
            answer = client.getresponse()
            assert answer.status == 200
            found.append(answer.read().decode())

    clients = [threading.Thread(target=load) for _number in range(16)]
    for client in clients:
        client.start()
    for _number in range(3):
        gateway.reload()
    until(lambda: len(found) >= 1000, seconds=60)
    assert all(client.is_alive() for client in clients), "a request failed, and its client with it"
    stop.set()
    for client in clients:
        client.join()


def test_faulty_configuration_is_refused_before_it_is_there(gateway: Gateway) -> None:
    before = gateway.config.read_text(encoding="utf-8")
    gateway.settings["gateway_bind_options"] = "no-such-option"
    done = gateway.play("configure")
    del gateway.settings["gateway_bind_options"]
    assert done.returncode != 0
    assert "unknown keyword 'no-such-option'" in done.stdout + done.stderr
    assert gateway.config.read_text(encoding="utf-8") == before


def test_host_whose_name_does_not_resolve_does_not_spoil_the_configuration(gateway: Gateway, tmp_path: Path) -> None:
    config = tmp_path / "haproxy.cfg"
    done = gateway.play("configure", __gateway_config=str(config), vllm_address="gpu9.invalid")
    assert done.returncode == 0, done.stdout
    assert " gpu9.invalid:" in config.read_text(encoding="utf-8")


def test_second_run_changes_nothing_and_older_settings_in_the_process_are_noticed(gateway: Gateway) -> None:
    done = gateway.play("configure verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed=0" in done.stdout, done.stdout
    gateway.settings["gateway_request_timeout"] = 5
    done = gateway.play("verify")
    del gateway.settings["gateway_request_timeout"]
    assert done.returncode != 0
    assert "HAProxy on gw1 does not run the configuration that the inventory asks for" in done.stdout
