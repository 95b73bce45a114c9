# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls that tell about the server, and the export and import of its identities."""

from __future__ import annotations

import json
import time
from typing import Any

from .admin_call import Call, Handler
from .iam_transfer import LARGEST, Import, export
from .wire import Response, json_response

_DISCOVERY = {
    "runtimeCapabilities": "/rustfs/admin/v4/runtime/capabilities",
    "clusterSnapshot": "/rustfs/admin/v4/cluster/snapshot",
    "extensionsCatalog": "/rustfs/admin/v4/extensions/catalog",
}


def is_admin(call: Call) -> Response:
    """Answers every signer; the right itself is in the answer."""
    root = call.identities.root in (call.caller.access_key, call.caller.user)
    admin = root or call.may("admin:*")
    message = f"User is {'' if admin else 'not '}an administrator"
    return json_response({"is_admin": admin, "access_key": call.caller.access_key, "message": message})


def _endpoint(call: Call) -> str:
    return call.request.headers.get("host", "")


def _drives(call: Call) -> list[dict[str, Any]]:
    total, used, free = call.quotas.space()
    return [
        {
            "endpoint": str(volume),
            "rootDisk": False,
            "path": str(volume),
            "healing": False,
            "scanning": False,
            "state": "ok",
            "uuid": f"{call.settings.deployment_id}-{number}",
            "totalspace": total,
            "usedspace": used,
            "availspace": free,
            "utilization": used * 100 / total if total else 0,
            "local": True,
            "pool_index": 0,
            "set_index": 0,
            "disk_index": number,
        }
        for number, volume in enumerate(call.settings.volumes)
    ]


def _backend(call: Call) -> dict[str, Any]:
    drives = len(call.settings.volumes)
    return {
        "BackendType": "Erasure",
        "OnlineDisks": {_endpoint(call): drives},
        "OfflineDisks": {},
        "StandardSCData": [drives],
        "StandardSCParities": [0],
        "RRSCData": [drives],
        "RRSCParities": [0],
        "TotalSets": [1],
        "DrivesPerSet": [drives],
    }


def server_info(call: Call) -> Response:
    call.require("admin:ServerInfo")
    buckets, drives = call.quotas.buckets(), _drives(call)
    objects, size = sum(one["objects"] for one in buckets), sum(one["usage"] for one in buckets)
    server = {
        "state": "online",
        "endpoint": _endpoint(call),
        "scheme": "https" if call.request.secure else "http",
        "uptime": int(time.time() - call.settings.started),
        "version": call.settings.version,
        "commitID": "stand-in",
        "network": {_endpoint(call): "online"},
        "drives": drives,
        "poolNumber": 1,
        "poolNumbers": [1],
    }
    info = {
        "mode": "online",
        "domain": None,
        "region": call.settings.region,
        "sqsARN": None,
        "deploymentID": call.settings.deployment_id,
        "buckets": {"count": len(buckets), "error": None},
        "objects": {"count": objects, "error": None},
        "versions": {"count": objects, "error": None},
        "deletemarkers": {"count": 0, "error": None},
        "usage": {"size": size, "error": None},
        "services": {},
        "backend": {
            "backendType": "Erasure",
            "onlineDisks": len(drives),
            "offlineDisks": 0,
            "unknownDisks": 0,
            "standardSCParity": 0,
            "rrSCParity": 0,
            "totalSets": [1],
            "totalDrivesPerSet": [len(drives)],
        },
        "servers": [server],
    }
    return json_response({"info": info, "admin_discovery": _DISCOVERY, "bitrotSelftest": "passed"})


def storage_info(call: Call) -> Response:
    call.require("admin:StorageInfo")
    info = {"disks": _drives(call), "backend": _backend(call)}
    return json_response({"info": info, "admin_discovery": _DISCOVERY})


def data_usage(call: Call) -> Response:
    call.require("admin:DataUsageInfo")
    buckets = call.quotas.buckets()
    usage = {one["name"]: {"size": one["usage"], "objects_count": one["objects"]} for one in buckets}
    total, used, free = call.quotas.space()
    return json_response(
        {
            "total_capacity": total,
            "total_used_capacity": used,
            "total_free_capacity": free,
            "objects_total_count": sum(one["objects"] for one in buckets),
            "objects_total_size": sum(one["usage"] for one in buckets),
            "buckets_count": len(buckets),
            "buckets_usage": usage,
        }
    )


def account_info(call: Call) -> Response:
    """What the caller is called, may do, and sees of the buckets."""
    identities, caller, shown = call.identities, call.caller, []
    for bucket in call.quotas.buckets():
        name = bucket["name"]
        read = any(identities.allowed(caller, action, name) for action in ("s3:ListBucket", "s3:GetBucketLocation"))
        write = identities.allowed(caller, "s3:PutObject", name)
        if read or write:
            access = {"read": read, "write": write}
            shown.append({"name": name, "size": bucket["usage"], "objects": bucket["objects"], "access": access})
    if caller.user == identities.root:
        policy = identities.policies.merged(["consoleAdmin"])
    else:
        policy = identities.policies.merged(identities.policies.of_user(caller.user))
    answer = {"account_name": caller.user, "server": _backend(call), "policy": json.dumps(policy), "buckets": shown}
    return json_response(answer)


def metrics(call: Call) -> Response:
    call.require("admin:ServerInfo", "admin:GetMetrics")
    line = json.dumps({"hosts": [_endpoint(call)], "aggregated": {}, "final": True})
    return Response(200, {"content-type": "application/x-ndjson"}, f"{line}\n".encode())


def list_pools(call: Call) -> Response:
    call.require("admin:ServerInfo", "admin:Decommission")
    total, used, free = call.quotas.space()
    line = " ".join(map(str, call.settings.volumes))
    sizes = {"totalSize": total, "usedSize": used, "currentSize": free}
    return json_response([{"id": 0, "cmdline": line, "status": "active", **sizes}])


def export_iam(call: Call) -> Response:
    call.require("admin:ExportIAM")
    headers = {"content-type": "application/zip", "content-disposition": "attachment; filename=iam-assets.zip"}
    return Response(200, headers, export(call.identities))


def import_iam(call: Call) -> Response:
    call.require("admin:ImportIAM")
    return json_response(Import(call.identities, call.request.body.read_all(LARGEST)).run())


CALLS: dict[tuple[str, str], Handler] = {
    ("GET", "is-admin"): is_admin,
    ("GET", "info"): server_info,
    ("GET", "storageinfo"): storage_info,
    ("GET", "datausageinfo"): data_usage,
    ("GET", "accountinfo"): account_info,
    ("GET", "metrics"): metrics,
    ("GET", "pools/list"): list_pools,
    ("GET", "export-iam"): export_iam,
    ("PUT", "import-iam"): import_iam,
    ("PUT", "import-iam-v2"): import_iam,
}
