# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of vLLM's answers, field by field as 0.32 has them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .requests import Request


def model_cards(ids: Iterable[str], root: str, longest: int) -> dict[str, Any]:
    """The answer of /v1/models. `created` is now, as with vLLM."""
    now = int(time.time())
    permission = {
        "object": "model_permission", "created": now, "allow_create_engine": False, "allow_sampling": True,
        "allow_logprobs": True, "allow_search_indices": False, "allow_view": True, "allow_fine_tuning": False,
        "organization": "*", "group": None, "is_blocking": False,
    }  # fmt: skip
    cards = [
        {
            "id": name, "object": "model", "created": now, "owned_by": "vllm", "root": root, "parent": None,
            "max_model_len": longest, "permission": [{"id": f"modelperm-{secrets.token_hex(8)}", **permission}],
        }
        for name in ids
    ]  # fmt: skip
    return {"object": "list", "data": cards}


class Writer:
    """The answer to one request. `token` is what every generated token is."""

    def __init__(self, request: Request, model: str, version: str, token: str) -> None:
        self._request, self._token = request, token
        prefix, self._object = ("chatcmpl", "chat.completion") if request.chat else ("cmpl", "text_completion")
        self._head = {"id": f"{prefix}-{secrets.token_hex(8)}", "created": int(time.time()), "model": model}
        self._fingerprint = {"system_fingerprint": f"vllm-{version}-double"}

    def whole(self, tokens: int) -> dict[str, Any]:
        """The answer in one piece."""
        choices = [self._choice(index, self._token * tokens) for index in range(self._request.choices)]
        rest = {"prompt_logprobs": None, "prompt_token_ids": None, "prompt_text": None} if self._request.chat else {}
        return {
            **self._head, "object": self._object, "choices": choices, "service_tier": None, **self._fingerprint,
            "usage": {**self._usage(tokens), "prompt_tokens_details": None, "completion_tokens_details": None},
            **rest, "kv_transfer_params": None, "ec_transfer_params": None, "metrics": None,
        }  # fmt: skip

    def opening(self) -> Iterator[bytes]:
        """What a stream begins with: the role, in a chat."""
        if self._request.chat:
            for index in range(self._request.choices):
                delta = {"role": "assistant", "content": ""}
                choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}
                yield self._chunk([choice], prompt_token_ids=None, prompt_text=None)

    def token(self, reason: str | None) -> Iterator[bytes]:
        """One more token of every choice; with `reason` the last one."""
        said = self._token
        for index in range(self._request.choices):
            choice: dict[str, Any] = {"index": index, "logprobs": None, "finish_reason": reason, "token_ids": None}
            if self._request.chat:
                choice = {**choice, "delta": {"content": said}, **({"stop_reason": None} if reason else {})}
            else:
                choice = {**choice, "text": said, "stop_reason": None, "prompt_token_ids": None}
            yield self._chunk([choice], **(self._fingerprint if reason and not self._request.with_usage else {}))

    def closing(self, tokens: int) -> Iterator[bytes]:
        """What a stream ends with."""
        if self._request.with_usage:
            yield self._chunk([], usage=self._usage(tokens), **self._fingerprint)
        yield event("[DONE]")

    def _chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        kind = f"{self._object}.chunk" if self._request.chat else self._object
        return event(json.dumps({**self._head, "object": kind, "choices": choices, **more}, separators=(",", ":")))

    def _choice(self, index: int, text: str) -> dict[str, Any]:
        common = {
            "index": index, "logprobs": None, "finish_reason": "length", "stop_reason": None, "token_ids": None,
            "routed_experts": None,
        }  # fmt: skip
        if not self._request.chat:
            return {**common, "text": text, "prompt_logprobs": None, "prompt_token_ids": None}
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": None, "audio": None}
        return {**common, "message": {**message, "function_call": None, "reasoning": None}}

    def _usage(self, tokens: int) -> dict[str, Any]:
        prompt, made = self._request.prompt_tokens, tokens * self._request.choices
        return {"prompt_tokens": prompt, "total_tokens": prompt + made, "completion_tokens": made}


def event(data: str) -> bytes:
    """One server-sent event."""
    return f"data: {data}\n\n".encode()
