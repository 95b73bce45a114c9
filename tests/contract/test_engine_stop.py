# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGTERM without a shutdown-timeout, and SIGTERM to a server that loads: what vLLM 0.32 does, and the double."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.engine_requests import send_slow, wait_for_slow
from tests.support.engines import engine, kinds
from tests.support.running_engine import READY, STOP


@pytest.mark.parametrize("kind", kinds())
def test_sigterm_is_not_heard_while_it_loads_and_leaves_requests_without_an_answer(kind: str, tmp_path: Path) -> None:
    """Two facts of one start: a start of vLLM is a minute of two processors."""
    loaded = tmp_path / "loaded"
    with engine(kind, environment={"DOUBLE_START": str(loaded)}) as running:
        running.wait_for(lambda: bool(running.children("VLLM::EngineCor")), "its engine loads", READY)
        running.terminate()
        loaded.touch()
        running.wait_ready()

        connections = [send_slow(running, stream) for stream in (False, True)]
        wait_for_slow(running, 2)
        running.terminate()
        running.wait_for(lambda: "Waiting for connections to close." in running.log, "it waits for its clients")
        running.wait_for(lambda: not running.children("VLLM::EngineCor"), "its engine has ended")
        assert running.status("/health") is None
        for connection in connections:
            connection.close()
        assert running.process.wait(STOP) == 0
        assert "mode=abort timeout=0s" in running.log
