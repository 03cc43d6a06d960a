# SPDX-License-Identifier: Apache-2.0
"""Calls that the workers of a Dask cluster answer without a task."""

from __future__ import annotations

import asyncio
import importlib
import pickle
from collections.abc import Callable
from typing import Any

_distributed: Any = importlib.import_module("distributed")
_to_serialize: Any = importlib.import_module("distributed.protocol").to_serialize

Arguments = dict[Any, tuple[Any, ...]]
"""By the keys of results, what a function takes behind each."""
_operation = "raydex-call"
_large = 1 << 20  # bytes, which the scheduler need not look at
_look_again = 1.0  # seconds


class Calls(_distributed.WorkerPlugin):  # type: ignore[misc]
    """Has each worker of a cluster take such calls, those that start later, too."""

    name = "raydex"
    idempotent = True

    def setup(self, worker: Any) -> None:
        self._worker = worker
        worker.handlers[_operation] = self.answer

    def teardown(self, worker: Any) -> None:
        del worker.handlers[_operation]

    async def answer(self, request: bytes) -> dict[str, Any]:
        """What a function says of the results that are here."""
        function, arguments = pickle.loads(request)
        data = self._worker.data
        held = {key: data[key] for key in arguments if key in data}

        def answers() -> bytes:
            return pickle.dumps({key: function(one, *arguments[key]) for key, one in held.items()})

        # The worker goes on to hear others meanwhile.
        reply = await asyncio.to_thread(answers)
        return {"answers": reply if len(reply) < _large else _to_serialize(reply)}


async def call(client: Any, workers: set[str], function: Callable[..., Any], arguments: Arguments) -> dict[Any, Any]:
    """What a function says of results that workers hold, by their keys.

    Left out is what they do not hold, and what workers hold that cannot be reached or fail. It goes through
    the scheduler, which always reaches them."""
    # As bytes in the message: to Dask each array would be a part of it, which takes longer than the answer.
    message = {"op": _operation, "request": pickle.dumps((function, arguments))}
    replies = asyncio.ensure_future(
        client.scheduler.broadcast(msg=message, workers=list(workers), on_error="ignore")
    )
    while not (await asyncio.wait([replies], timeout=_look_again))[0]:
        # The scheduler would try for long to reach a worker that it has let go of just before.
        if not workers <= (await client.scheduler.ncores()).keys():
            replies.cancel()
            return {}
    found: dict[Any, Any] = {}
    for one in replies.result().values():
        found |= pickle.loads(one["answers"]) if one else {}  # nothing: it does not know such calls
    return found
