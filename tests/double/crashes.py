# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts that fail: the last words of vLLM 0.32 (vllm.md, "root error to look for"), in the process that says them.

It exits with 1 for all of them. What a worker says is followed by generic lines of the engine and of the server.
"""

from __future__ import annotations

from .log import Log


class Crash(Exception):
    """A start that fails. `worker`: a worker says so, else the server itself. `line`: the root error."""

    def __init__(self, line: str, *, worker: bool = False) -> None:
        super().__init__(line)
        self.line, self.worker = line, worker

    def report(self, log: Log) -> None:
        """Write what vLLM writes."""
        if not self.worker:
            log.traceback(self.line)
            return
        log.error("Worker", "multiproc_executor.py:953", "WorkerProc failed to start.")
        log.error("Worker", "multiproc_executor.py:953", "Traceback (most recent call last):")
        log.error("Worker", "multiproc_executor.py:953", self.line)
        log.info("EngineCore", "multiproc_executor.py:479", "[shutdown] Executor: waiting for worker exit count=1")
        log.error("EngineCore", "core.py:1510", "EngineCore failed to start.")
        log.error("EngineCore", "core.py:1510", "Traceback (most recent call last):")
        log.error("EngineCore", "core.py:1510", f"Exception: {WORKER_FAILED}")
        log.plain("Process EngineCore:")
        log.traceback(f"Exception: {WORKER_FAILED}")
        log.traceback(f"RuntimeError: {ENGINE_FAILED}")


WORKER_FAILED = (
    "WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause."
)
ENGINE_FAILED = "Engine core initialization failed. See root cause above. Failed core proc(s): {}"


def no_directory(path: str) -> Crash:
    return Crash(
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name':"
        f" '{path}'. Use `repo_type` argument if needed."
    )


def no_config(path: str) -> Crash:
    return Crash(f"  Value error, Invalid repository ID or local directory specified: '{path}'.")


def no_tokenizer() -> Crash:
    return Crash("ValueError: Couldn't instantiate the backend tokenizer from one of:")


def no_weights(path: str) -> Crash:
    return Crash(f"RuntimeError: Cannot find any model weights with `{path}`", worker=True)


def missing_shards(paths: list[str]) -> Crash:
    return Crash(f"FileNotFoundError: Weight files referenced in index but missing: {set(paths)}", worker=True)


def bad_shard(why: str) -> Crash:
    line = f"safetensors._safetensors_rust.SafetensorError: Error while deserializing header: {why}"
    return Crash(line, worker=True)


def memory_in_use() -> Crash:
    line = (
        "ValueError: Free memory on device cuda:0 (1.2/79.1 GiB) on startup is less than desired GPU memory utilization"
        " (0.92, 72.8 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )
    return Crash(line, worker=True)


CRASHES = {
    "directory": no_directory("/weights"),
    "config": no_config("/weights"),
    "tokenizer": no_tokenizer(),
    "weights": no_weights("/weights"),
    "shard": missing_shards(["/weights/model-00002-of-00007.safetensors"]),
    "truncated": bad_shard("incomplete metadata, file not fully covered"),
    "empty": bad_shard("header too small"),
    "memory": memory_in_use(),
    "port": Crash("OSError: [Errno 98] Address already in use"),
    "shm": Crash("RuntimeError: Insufficient space in /dev/shm", worker=True),
    "temporary": Crash("FileNotFoundError: [Errno 2] No usable temporary directory found in ['/tmp', '/var/tmp']"),
    "read-only": Crash("OSError: [Errno 30] Read-only file system: '/root/.cache'", worker=True),
    "head-size": Crash("ValueError: Unsupported CPU attention configuration: head_dim=48", worker=True),
}
"""Name -> what DOUBLE_CRASH of that name says, whatever the weights are."""
