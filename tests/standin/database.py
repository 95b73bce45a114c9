# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stand-in remembers: one SQLite file. What was committed is there after a kill -9."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# A version is a row: `sequence` grows, and the row with the highest one of a key is its latest. Keys compare by their
# UTF-8 bytes, which is the order of a listing. `blobs` is a JSON list of [blob, size], one for each part of the object.
SCHEMA = """
CREATE TABLE IF NOT EXISTS documents(
  kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY(kind, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS buckets(
  name TEXT PRIMARY KEY, created REAL NOT NULL, versioning TEXT NOT NULL DEFAULT '', object_lock TEXT,
  tags TEXT, policy TEXT, quota INTEGER, usage INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS versions(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, bucket TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL,
  latest INTEGER NOT NULL, marker INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, modified REAL NOT NULL,
  headers TEXT NOT NULL, checksums TEXT NOT NULL, tags TEXT, blobs TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS versions_by_key ON versions(bucket, key, sequence DESC);
CREATE UNIQUE INDEX IF NOT EXISTS versions_by_id ON versions(bucket, key, version);
CREATE UNIQUE INDEX IF NOT EXISTS listing ON versions(bucket, key) WHERE latest = 1;
CREATE TRIGGER IF NOT EXISTS usage_more AFTER INSERT ON versions BEGIN
  UPDATE buckets SET usage = usage + NEW.size WHERE name = NEW.bucket; END;
CREATE TRIGGER IF NOT EXISTS usage_less AFTER DELETE ON versions BEGIN
  UPDATE buckets SET usage = usage - OLD.size WHERE name = OLD.bucket; END;
CREATE TABLE IF NOT EXISTS uploads(
  id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key TEXT NOT NULL, started REAL NOT NULL, headers TEXT NOT NULL,
  tags TEXT, algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uploads_by_key ON uploads(bucket, key, id);
CREATE TABLE IF NOT EXISTS parts(
  upload TEXT NOT NULL REFERENCES uploads(id) ON DELETE CASCADE, number INTEGER NOT NULL, size INTEGER NOT NULL,
  etag TEXT NOT NULL, modified REAL NOT NULL, checksums TEXT NOT NULL, blob TEXT NOT NULL,
  PRIMARY KEY(upload, number)) WITHOUT ROWID;
"""


class Database:
    """Many readers, one writer at a time. Safe to use from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._writer = self._connect()
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.executescript(SCHEMA)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def read(self) -> sqlite3.Connection:
        """This thread's own connection, for queries alone. `release` hands it to another thread."""
        connection: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if connection is None:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
            self._mine.connection = connection
        return connection

    def release(self) -> None:
        """Called at the end of a thread."""
        connection: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if connection is not None:
            self._idle.append(connection)
            self._mine.connection = None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction, alone among the writers: committed (and on the disk) at the end, undone when it raises.

        What must be decided on the newest state is read from this connection. Not to be nested.
        """
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    def get(self, kind: str, name: str, connection: sqlite3.Connection | None = None) -> Any:
        """A document, or None. `connection` is given inside a transaction."""
        found = (connection or self.read()).execute(
            "SELECT body FROM documents WHERE kind = ? AND name = ?", (kind, name)
        )
        row = found.fetchone()
        return None if row is None else json.loads(row["body"])

    def all(self, kind: str, connection: sqlite3.Connection | None = None) -> dict[str, Any]:
        """Every document of a kind by its name, sorted."""
        found = (connection or self.read()).execute(
            "SELECT name, body FROM documents WHERE kind = ? ORDER BY name", (kind,)
        )
        return {row["name"]: json.loads(row["body"]) for row in found.fetchall()}

    def put(self, kind: str, name: str, body: Any, connection: sqlite3.Connection | None = None) -> None:
        """Write a document, in a transaction of its own unless `connection` is one's."""
        if connection is None:
            with self.write() as connection:
                self.put(kind, name, body, connection)
            return
        connection.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (kind, name, json.dumps(body)))

    def delete(self, kind: str, name: str, connection: sqlite3.Connection | None = None) -> bool:
        """Remove a document; whether it was there."""
        if connection is None:
            with self.write() as connection:
                return self.delete(kind, name, connection)
        return connection.execute("DELETE FROM documents WHERE kind = ? AND name = ?", (kind, name)).rowcount > 0

    def close(self) -> None:
        """Fold the log into the file."""
        with self._lock:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()
