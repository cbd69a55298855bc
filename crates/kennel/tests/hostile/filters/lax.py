"""A server that reads as leniently as any reader there is, and remembers what it was made to run.

Names of members are compared without case, without anything from a NUL on and without what is not printed; of two members
the last one counts; methods and names of tools are compared the same way, and what has no id is run like what has one.
"""

import json
import sys
import unicodedata

TOOLS = ["echo", "danger", "ran"]
ran = []


def folded(text):
    text = str(text).split("\0")[0].casefold().replace("ı", "i").replace("_", "").replace("-", "")
    return "".join(letter for letter in text if unicodedata.category(letter)[0] not in "CZ")


def lenient(pairs):
    return {folded(name): value for name, value in pairs}


def answer(identity, **rest):
    if identity is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": identity, **rest}), flush=True)


def run(name):
    if isinstance(name, list) and name:
        name = name[0]
    name = folded(name)
    if name == "ran":
        return ",".join(ran)
    if name in TOOLS:
        ran.append(name)
        return "ran " + name
    return "unknown"


for line in sys.stdin:
    try:
        message = json.loads(line, object_pairs_hook=lenient)
    except ValueError:
        continue
    for message in message if isinstance(message, list) else [message]:
        method = folded(message.get("method", "")).strip("/").replace("//", "/")
        params = message.get("params")
        if isinstance(params, list):
            params = {"name": params[0] if params else None}
        params = params if isinstance(params, dict) else {}
        identity = message.get("id")
        if method == "initialize":
            result = {
                "protocolVersion": params.get("protocolversion", "2025-11-25"),
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "lax", "version": "1"},
            }
            answer(identity, result=result)
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            answer(identity, result={"tools": tools})
        elif method == "tools/call":
            answer(identity, result={"content": [{"type": "text", "text": run(params.get("name"))}]})
        elif method == "ping":
            answer(identity, result={})
        else:
            answer(identity, error={"code": -32601, "message": "no such method"})
