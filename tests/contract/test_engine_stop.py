# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGTERM without a shutdown-timeout, and SIGTERM to a server that loads: what vLLM 0.32 does, and the double."""

from __future__ import annotations

import time

import pytest

from tests.support.engine_requests import send_slow
from tests.support.engines import READY, STOP, engine, kinds

SETTLE = 3
"""Seconds in which a process would have ended, or an answer come."""


@pytest.mark.parametrize("kind", kinds())
def test_sigterm_is_not_heard_while_it_loads_and_leaves_requests_without_an_answer(kind: str) -> None:
    """Two facts of one start: a start of vLLM is a minute of two processors."""
    with engine(kind, environment={"DOUBLE_START_S": "4"}) as running:
        running.wait_for(lambda: bool(running.children("VLLM::EngineCor")), READY[kind], "its engine loads")
        running.terminate()
        time.sleep(SETTLE)
        assert running.process.poll() is None, "it heard SIGTERM while it loaded"
        running.wait_ready()

        connections = [send_slow(running, stream) for stream in (False, True)]
        running.wait_for(lambda: running.busy() >= 100, 20, "the requests run")
        running.terminate()
        running.wait_for(lambda: running.status("/health") is None, 10, "the port is closed")
        time.sleep(SETTLE)
        assert running.process.poll() is None, "it did not wait for its clients"
        assert not running.children("VLLM::EngineCor")
        for connection in connections:
            connection.close()
        assert running.process.wait(STOP) == 0
        assert "mode=abort timeout=0s" in running.log
