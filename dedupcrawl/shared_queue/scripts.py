"""What runs on the Redis server of a shared queue: each Lua script is one atomic step (see shared_queue.queue)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from dedupcrawl.index.redis_scripts import lua

_lua = partial(lua, Path(__file__).parent / "lua")

PUSH = _lua("count", "push")
TAKE = _lua("count", "marked", "mark", "take")
PUT_BACK = _lua("marked", "put_back")
MARK = _lua("marked", "mark", "mark_all")
RELEASE = _lua("count", "release")
COUNTED = frozenset({PUSH, TAKE, RELEASE})
RECLAIM = _lua("marked", "reclaim")
