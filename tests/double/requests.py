# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a request asks for, and what vLLM finds wrong with one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
_DEFAULT_TOKENS = 16
"""Of a completion. A chat may use all that the model has."""


class Wrong(Exception):
    """A request that is answered with an error of OpenAI's form."""

    def __init__(self, code: int, message: str, kind: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.kind, self.param = code, message, kind, param

    def body(self) -> dict[str, Any]:
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


@dataclass(frozen=True)
class Request:
    """`tokens` for each of `choices`, in `seconds` (None: at the engine's own pace). `prompt_tokens` are words.

    `until` is a file that the first token waits for, if there is one: a test has the request in flight until then.
    """

    chat: bool
    choices: int
    tokens: int
    prompt_tokens: int
    stream: bool
    with_usage: bool
    seconds: float | None
    until: str

    def is_held(self) -> bool:
        """Whether the first token has to wait."""
        return bool(self.until) and not Path(self.until).exists()


def read_request(path: str, content_type: str, body: bytes, names: tuple[str, ...], longest: int) -> Request:
    """The request in a body. `names` are the served ones, `longest` is the model's length in tokens. Raises Wrong."""
    data = _object(content_type, body)
    chat = path == CHAT
    prompts = _prompts(data, chat)
    name = data.get("model")
    if name is not None and name not in names:
        message = f"The model `{name}` does not exist. Valid aliases: {', '.join(names)}."
        raise Wrong(404, message, "NotFoundError", "model")
    words = max(sum(len(prompt.split()) for prompt in prompts), 1)
    default = max(longest - words, 1) if chat else _DEFAULT_TOKENS
    tokens = _whole(data, "max_completion_tokens", _whole(data, "max_tokens", default))
    if tokens > longest:
        message = (
            f"max_tokens={tokens} cannot be greater than max_model_len={longest}. Please request fewer output tokens."
            f" (parameter=max_tokens, value={tokens})"
        )
        raise Wrong(400, message, "BadRequestError", "max_tokens")
    options = data.get("stream_options")
    return Request(
        chat=chat,
        choices=_whole(data, "n", 1) * len(prompts),
        tokens=tokens,
        prompt_tokens=words,
        stream=data.get("stream") is True,
        with_usage=isinstance(options, dict) and options.get("include_usage") is True,
        seconds=float(data["double_seconds"]) if "double_seconds" in data else None,
        until=str(data.get("double_until", "")),
    )


def _object(content_type: str, body: bytes) -> Mapping[str, Any]:
    if content_type.partition(";")[0].strip().lower() != "application/json":
        message = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
        raise Wrong(400, message, "Bad Request")
    try:
        data = json.loads(body)
    except ValueError as error:
        message = (
            f"1 validation error:\n  {{'type': 'json_invalid', 'msg': 'JSON decode error', 'ctx': {str(error)!r}}}"
        )
        raise Wrong(400, message, "Bad Request", "body.1") from None
    if not isinstance(data, dict):
        raise Wrong(
            400, "1 validation error:\n  {'type': 'model_attributes_type', 'loc': 'body'}", "Bad Request", "body"
        )
    return data


def _prompts(data: Mapping[str, Any], chat: bool) -> list[str]:
    if chat:
        messages = data.get("messages")
        if not isinstance(messages, list):
            message = "1 validation error:\n  {'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required'}"
            raise Wrong(400, message, "Bad Request", "body.messages")
        return [" ".join(str(entry.get("content", "")) for entry in messages if isinstance(entry, dict))]
    prompt = data.get("prompt")
    prompts: list[Any] = prompt if isinstance(prompt, list) else [prompt]
    if not prompts or not all(prompts):
        message = "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)"
        raise Wrong(400, message, "BadRequestError", "prompt")
    # Lists of token ids are prompts too.
    if all(isinstance(item, int) for item in prompts):
        return [" ".join(map(str, prompts))]
    return [item if isinstance(item, str) else " ".join(map(str, item)) for item in prompts]


def _whole(data: Mapping[str, Any], name: str, default: int) -> int:
    value = data.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        message = f"1 validation error:\n  {{'type': 'int_parsing', 'loc': 'body.{name}', 'input': {value!r}}}"
        raise Wrong(400, message, "Bad Request", f"body.{name}")
    return value
