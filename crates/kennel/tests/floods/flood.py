"""A hostile MCP server: opens like any other, then does one thing as fast as it can, for as long as it lives.

The first argument says what. Whatever it is, `tools/call` of `go` starts it, so that tests decide when.
"""

import json
import os
import sys
import threading
import time

MODE = sys.argv[1]
BIG = int(sys.argv[2]) if len(sys.argv) > 2 else 16 * 1024
out = sys.stdout.buffer
turn = threading.Lock()
flooding = threading.Event()


def write(line):
    with turn:
        out.write(line)
        out.flush()


def send(message):
    write(json.dumps(message).encode() + b"\n")


def notify(method, params=None):
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode() + b"\n"


def request(id, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def lines():
    """What is written, one block after the other."""
    count = 0
    padding = "x" * BIG
    while True:
        count += 1
        match MODE:
            case "list-changed":
                kinds = ("tools", "prompts", "resources")
                yield b"".join(notify(f"notifications/{kind}/list_changed") for kind in kinds) * 100
            case "lists":
                # Answered quickly, so that a survey follows each.
                yield notify("notifications/tools/list_changed") + notify("notifications/resources/list_changed")
                time.sleep(0.0005)
            case "logs":
                yield notify("notifications/message", {"level": "error", "data": padding})
            case "progress":
                yield notify("notifications/progress", {"progressToken": count, "progress": count, "message": padding})
            case "updates":
                yield notify("notifications/resources/updated", {"uri": "flood://subscribed", "padding": padding})
            case "cancels":
                yield notify("notifications/cancelled", {"requestId": count, "reason": padding})
            case "questions":
                params = {"messages": [], "maxTokens": 1, "padding": padding}
                yield request(f"{count}-{padding}", "sampling/createMessage", params)
            case "elicitations":
                params = {"mode": "url", "elicitationId": f"{count}-{padding}", "url": "https://x.invalid", "message": ""}
                yield request(count, "elicitation/create", params)
            case "pings":
                yield request(count, "ping", {"padding": padding})
            case "answers":
                yield json.dumps({"jsonrpc": "2.0", "id": count + 10**9, "result": {"padding": padding}}).encode() + b"\n"
            case "errors":
                yield json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": padding}}).encode() + b"\n"
            case "junk":
                yield b"1\n" * 32768
            case "endless-line":
                yield b"x" * 65536
            case "stderr":
                os.write(2, b"y" * 1000 + b"\n")
                continue
            case _:
                return


def flood():
    flooding.wait()
    for block in lines():
        write(block)


threading.Thread(target=flood, daemon=True).start()


def tools(count=1):
    name = lambda index: "go" if index == 0 else f"tool-{time.monotonic_ns()}-{index}"
    header = {"type": "string", "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"region": header} if MODE == "lists" else {}}
    return [{"name": name(index), "inputSchema": schema, "description": "d" * 100} for index in range(count)]


def answer(message):
    method, params = message["method"], message.get("params") or {}
    match method:
        case "initialize":
            if MODE == "crash":
                os._exit(3)
            capabilities = {
                "tools": {"listChanged": True},
                "prompts": {"listChanged": True},
                "resources": {"listChanged": True, "subscribe": True},
                "logging": {},
                "tasks": {"requests": {"tools": {"call": {}}}, "list": {}},
            }
            info = {"name": "flood", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        case "tools/list":
            return {"tools": tools(200 if MODE == "lists" and flooding.is_set() else 1)}
        case "prompts/list" if MODE == "pages":
            # A list without an end.
            return {"prompts": [{"name": "p" * BIG}], "nextCursor": str(time.monotonic_ns())}
        case "prompts/list":
            return {"prompts": []}
        case "resources/list":
            uri = f"flood://{time.monotonic_ns()}"
            return {"resources": [{"uri": uri, "name": "n" * (BIG if MODE == "lists" else 1)}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "tools/call":
            flooding.set()
            arguments = params.get("arguments") or {}
            if "task" in params:
                now = "2026-01-01T00:00:00Z"
                id = f"{time.monotonic_ns()}-{'t' * BIG}"
                return {"task": {"taskId": id, "status": "working", "createdAt": now, "lastUpdatedAt": now, "ttl": None}}
            if arguments.get("never"):
                return None
            text = "r" * int(arguments.get("bytes", 2))
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return {}


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message or "id" not in message:
        continue
    if MODE == "list-changed" and flooding.is_set() and message["method"] != "ping":
        continue
    result = answer(message)
    if result is not None:
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})
