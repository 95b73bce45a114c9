# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Listening, TLS, readiness and the end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import ssl
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from .application import Application
from .connection import Connection
from .settings import Fatal, Settings

LAST_WORDS = 1.5  # seconds that open requests have after SIGTERM
HANDSHAKE = 10.0  # seconds


def listen(address: tuple[str, int]) -> socket.socket:
    """A listening socket. The port may be another server's already, as with the real one: SO_REUSEPORT."""
    host, port = address
    families = [(socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")] if not host else []
    if host:
        try:
            families = [
                (found[0], str(found[4][0])) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            ]
        except OSError as error:
            raise Fatal(f"cannot resolve {host}: {error}") from None
    problem: OSError | None = None
    for family, where in families:
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                if not host and family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                listener.bind((where, port))
                listener.listen(1024)
            except OSError:
                listener.close()
                raise
            return listener
        except OSError as error:
            problem = error
    raise Fatal(f"cannot listen on {host}:{port}: {problem}")


def tls_context(path: str) -> ssl.SSLContext | None:
    """The context of a folder with `rustfs_cert.pem` and `rustfs_key.pem`; None without a folder."""
    if not path:
        return None
    if not Path(path).is_dir():
        raise Fatal(f"TLS folder not found: {path}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(Path(path, "rustfs_cert.pem"), Path(path, "rustfs_key.pem"))
    except (OSError, ssl.SSLError) as error:
        raise Fatal(f"cannot load rustfs_cert.pem and rustfs_key.pem of {path}: {error}") from None
    return context


def notify(message: str) -> None:
    """Tell systemd, where it started this process (sd_notify(3))."""
    name = os.environ.get("NOTIFY_SOCKET", "")
    if name:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(message.encode(), f"\0{name[1:]}" if name.startswith("@") else name)


class Server:
    """Accepts until SIGTERM or SIGINT; a thread for each connection."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tls = tls_context(settings.tls_path)
        self._application = Application(settings)
        self._alone = self._claim(settings.system / "standin.lock")
        self._open: set[Connection] = set()
        self._listener = listen(settings.address)

    def _claim(self, path: Path) -> int:
        """A shared lock on the volumes for as long as the process lives. Who has it alone at the start sweeps."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._application.sweep()
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return descriptor

    def run(self) -> int:
        """Serve until told to stop; the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        host, port = self._listener.getsockname()[:2]
        print(f"rustfs {self._settings.version} (stand-in) listens on {host}:{port}", flush=True)
        if not self._settings.never_ready:
            notify("READY=1")
        while True:
            try:
                sock, address = self._listener.accept()
            except OSError:
                if self._application.stopping:
                    break
                time.sleep(0.05)
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(sock, address[0]), daemon=True).start()
        deadline = time.monotonic() + LAST_WORDS
        while time.monotonic() < deadline and any(connection.busy for connection in list(self._open)):
            time.sleep(0.02)
        self._application.database.close()
        return 0

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._application.stopping = True
        notify("STOPPING=1")
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self, sock: socket.socket, address: str) -> None:
        try:
            if self._tls:
                sock.settimeout(HANDSHAKE)
                sock = self._tls.wrap_socket(sock, server_side=True)
            name = address.removeprefix("::ffff:")
            connection = Connection(sock, name, self._application, secure=self._tls is not None)
            self._open.add(connection)
            try:
                connection.serve()
            finally:
                self._open.discard(connection)
                self._application.database.release()
        except OSError:
            pass  # the client is gone, or does not speak TLS
        finally:
            with contextlib.suppress(OSError):
                sock.close()


def serve(settings: Settings) -> int:
    """Run the server of these settings. Raises Fatal when it cannot start."""
    for warning in settings.warnings:
        print(f"[WARN] {warning}", file=sys.stderr, flush=True)
    return Server(settings).run()
