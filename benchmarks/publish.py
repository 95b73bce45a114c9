# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Publishing a model directory against `rclone copy` of the same directory into the same server, turn by turn.

Prints the median seconds of both and their ratio: below 1 publishing is the faster one. Publishing also hashes every
file and writes the manifest. The server is `rclone serve s3` on this machine, so that only the clients differ.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ansible_collections.modelshelf.fleet.plugins.module_utils._model_version import publish_version

ROUNDS = 3
SHARDS = 4
SHARD_BYTES = 128 << 20
RCLONE = Path(sys.executable).with_name("rclone")


def make_model(folder: Path) -> None:
    """A model directory of SHARDS real safetensors files with random bytes."""
    folder.mkdir()
    names = [f"model-{number:05d}-of-{SHARDS:05d}.safetensors" for number in range(1, SHARDS + 1)]
    for name in names:
        header = json.dumps({name: {"dtype": "U8", "shape": [SHARD_BYTES], "data_offsets": [0, SHARD_BYTES]}}).encode()
        with (folder / name).open("wb") as shard:
            shard.write(struct.pack("<Q", len(header)) + header)
            shard.write(os.urandom(SHARD_BYTES))
    index = {"metadata": {"total_size": SHARDS * SHARD_BYTES}, "weight_map": {name: name for name in names}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"]}))
    (folder / "tokenizer.json").write_text("{}")


def timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        make_model(top / "model")
        (top / "store" / "models").mkdir(parents=True)
        key, secret = secrets.token_hex(8), secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        serve = [RCLONE, "serve", "s3", top / "store", "--addr", f"127.0.0.1:{port}", "--no-modtime"]
        server = subprocess.Popen(
            serve, env={**os.environ, "RCLONE_AUTH_KEY": f'"{key},{secret}"'}, stderr=subprocess.DEVNULL
        )
        try:
            wait_for(port)
            print(json.dumps(measure(top, f"http://127.0.0.1:{port}", key, secret)))
        finally:
            server.terminate()
            server.wait()


def wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("rclone serve s3 did not start")


def measure(top: Path, endpoint: str, key: str, secret: str) -> dict[str, float]:
    remote = {
        "TYPE": "s3",
        "PROVIDER": "Other",
        "ENDPOINT": endpoint,
        "ACCESS_KEY_ID": key,
        "SECRET_ACCESS_KEY": secret,
    }
    env = {**os.environ, **{f"RCLONE_CONFIG_SHELF_{name}": value for name, value in remote.items()}}
    options = {
        "endpoint": endpoint, "bucket": "models", "access_key": key, "secret_key": secret, "region": "us-east-1",
        "ca_file": None, "validate_certs": True, "timeout": 30, "model": "bench",
        "directory": str(top / "model"), "exclude": [], "allow_missing": [],
        "concurrency": 8, "part_size": 16 << 20,
    }  # fmt: skip

    def publish() -> None:
        publish_version(options, check_mode=False, say=lambda text: None, warn=lambda text: None)

    def copy() -> None:
        argv = [RCLONE, "copy", "--transfers=8", "--s3-chunk-size=16M", top / "model", f"shelf:models/copy-{turn}"]
        subprocess.run(argv, env=env, check=True)

    ours, theirs = [], []
    for turn in range(ROUNDS):
        options["version"] = f"v{turn}"
        ours.append(timed(publish))
        theirs.append(timed(copy))
        shutil.rmtree(top / "store" / "models")
        (top / "store" / "models").mkdir()
        print(f"round {turn + 1}: publish {ours[-1]:.2f} s, rclone copy {theirs[-1]:.2f} s", flush=True)
    mine, other = statistics.median(ours), statistics.median(theirs)
    return {
        "bytes": SHARDS * SHARD_BYTES,
        "publish_s": round(mine, 2),
        "rclone_copy_s": round(other, 2),
        "publish_to_copy_ratio": round(mine / other, 2),
    }


main()
