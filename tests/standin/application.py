# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked, by whom, and which part answers: health, the admin API, S3."""

from __future__ import annotations

import datetime
import json
import os
import sys
import traceback

from . import sigv4
from .admin_api import handle as admin
from .admin_api import refused_key
from .body import Source, open_body
from .connection import Head
from .database import Database
from .iam_access import Identities
from .s3_blobs import BlobStore
from .s3_call import Store
from .s3_quota import BucketQuotas
from .s3_router import answer
from .settings import Settings
from .wire import ApiError, Caller, Request, Response, error_response, json_response

ALIVE = ("/health", "/health/live", "/minio/health/live")
READY = ("/health/ready", "/minio/health/ready", "/minio/health/cluster", "/minio/health/cluster/read")
ADMIN = ("/rustfs/admin/", "/minio/admin/")


class Application:
    """The state of one store and the answers from it. Safe to call from many threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.system / "standin.db")
        self.blobs = BlobStore(settings.system / "blobs")
        self.identities = Identities(self.database, settings.access_key, settings.secret_key)
        self.quotas = BucketQuotas(self.database, settings)
        self.stopping = False
        self._store = Store(self.database, self.blobs, self.identities, self.quotas, settings)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._log = os.open(settings.access_log, flags, 0o600) if settings.access_log else -1

    def sweep(self) -> None:
        """Remove the files that no object has; for the only server on these volumes."""
        connection = self.database.read()
        known = {row["blob"] for row in connection.execute("SELECT blob FROM parts")}
        for row in connection.execute("SELECT blobs FROM versions"):
            known.update(name for name, _ in json.loads(row["blobs"]))
        self.blobs.sweep(known)

    def __call__(self, head: Head, source: Source) -> Response:
        caller: Caller | None = None
        try:
            response = self._health(head)
            if response is None:
                caller, request = self._signed(head, source)
                response = self._answer(request)
        except ApiError as error:
            response = error_response(error)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            response = error_response(
                ApiError(500, "InternalError", "We encountered an internal error, please try again.")
            )
        if self._log >= 0:
            self._write_log(head, response, caller)
        return response

    def _health(self, head: Head) -> Response | None:
        if head.method not in ("GET", "HEAD") or head.path not in ALIVE + READY:
            return None
        ready = not (self.settings.never_ready or self.stopping)
        now = datetime.datetime.now(datetime.UTC).isoformat()
        said: dict[str, object] = {"status": "ok", "ready": ready, "service": "rustfs-endpoint", "timestamp": now}
        said["version"] = self.settings.version
        if head.path in ALIVE:
            return json_response(said)
        state = {"status": "connected" if ready else "disconnected", "ready": ready}
        said["details"] = {"storage": state, "iam": state, "lock": state}
        said["degradedReasons"] = [] if ready else ["storage_not_ready"]
        said["status"] = "ok" if ready else "degraded"
        return json_response(said, 200 if ready else 503)

    def _signed(self, head: Head, source: Source) -> tuple[Caller | None, Request]:
        signature = sigv4.find(head.headers, head.query)
        is_admin = head.path.startswith(ADMIN)
        caller, secret = None, ""
        if signature:
            secret = self.identities.secret_for(signature.access_key)
            paths = (head.path, head.raw_path)
            sigv4.verify(signature, secret, head.method, paths, head.query, head.headers)
            try:
                caller = self.identities.caller(signature.access_key)
            except ApiError as error:
                raise (refused_key(head.path, error) if is_admin else error) from None
        elif is_admin:
            raise ApiError(403, "AccessDenied", "Signature is required")
        body = open_body(source, head.headers, signature, secret, admin=is_admin)
        query = [(name, value) for name, value in head.query if not name.startswith("X-Amz-")]
        return caller, Request(
            head.method, head.path, head.raw_path, query, head.headers, body, caller, head.address, head.secure
        )

    def _answer(self, request: Request) -> Response:
        if self.settings.never_ready:
            raise ApiError(503, "ServiceUnavailable", "the server is not ready")
        if request.path.startswith(ADMIN):
            return admin(request, self.identities, self.quotas, self.settings)
        return answer(self._store, request)

    def _write_log(self, head: Head, response: Response, caller: Caller | None) -> None:
        length = len(response.body) if isinstance(response.body, bytes) else response.headers.get("content-length", 0)
        line = {
            "method": head.method,
            "path": head.path,
            "query": [[name, value] for name, value in head.query if not name.startswith("X-Amz-")],
            "status": response.status,
            "bytes_out": 0 if head.method == "HEAD" else int(length),
            "access_key": caller.access_key if caller else None,
        }
        os.write(self._log, f"{json.dumps(line)}\n".encode())
