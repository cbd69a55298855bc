"""Says of each line what Python's json takes it for; with `lax`, what the most lenient readers do (a case-insensitive
one that ignores `_` and `-`, as Go's encoding/json/v2 can be told to, and ends names at a NUL, as C does)."""

import json
import sys

lax = sys.argv[1:] == ["lax"]


def folded(name):
    name = name.split("\0")[0].casefold().strip()
    return name[:1] + name[1:].replace("_", "").replace("-", "") if lax else name


def pairs(members):
    return {folded(name) if lax else name: value for name, value in members}


def text(value):
    return value if isinstance(value, str) else None


for line in sys.stdin.buffer:
    try:
        message = json.loads(line.decode("utf-8"), object_pairs_hook=pairs)
        if not isinstance(message, dict):
            raise ValueError
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        seen = {name.lower(): text(params.get(name.lower() if lax else name)) for name in ("name", "uri", "taskId")}
        identity = message.get("id")
        seen["id"] = None if identity is None else json.dumps(identity)
        seen["method"] = text(message.get("method"))
        seen["result"] = "result" in message
        seen["error"] = "error" in message
    except (ValueError, RecursionError):
        seen = {"refused": True}
    # What is no text cannot be printed, and is equal to nothing.
    sys.stdout.buffer.write(json.dumps(seen, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
