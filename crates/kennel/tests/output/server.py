"""An MCP server that says in every place what a terminal would obey, prints what it was given, or floods its output."""
import base64, json, os, sys, threading, time, urllib.parse

EVIL = json.loads(r'''@EVIL@''')
MODE = sys.argv[1] if len(sys.argv) > 1 else ""


def stderr(data):
    if isinstance(data, str):
        data = data.encode()
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def spellings(secret):
    """One line for each way to print a secret of several lines."""
    yield from secret.splitlines()
    yield json.dumps({"key": secret})
    yield json.dumps(json.dumps({"key": secret}))
    yield "https://host/?key=" + urllib.parse.quote(secret, safe="")
    yield "body: " + urllib.parse.urlencode({"key": secret})
    for before in ("", "u", "us"):
        yield "basic " + base64.b64encode((before + secret).encode()).decode()
        yield "safe " + base64.urlsafe_b64encode((before + secret).encode()).decode()
    line = secret.splitlines()[1]
    for length in (1024, 4096, 8192):
        for back in range(5, len(line), 7):
            yield "." * (length - back) + line + "." * 9000
            yield "." * (length - back) + line


def flood():
    block = b"".join(b"%d flood flood flood flood flood flood flood flood\n" % n for n in range(2000))
    while True:
        stderr(block)


SCHEMA = {"type": "object", "properties": {EVIL: {"type": "string"}, "choice": {"enum": [EVIL, "b"]}}, "required": [EVIL]}
TOOLS = [
    {"name": "plain", "title": EVIL, "description": EVIL, "inputSchema": SCHEMA},
    {"name": EVIL, "description": EVIL, "inputSchema": {"type": "object"}},
    {"name": "broken", "description": 5, "inputSchema": EVIL},
    *({"name": name, "inputSchema": {"type": "object"}} for name in ("result", "fails", "error", "progress", "die")),
    {"name": "choose", "inputSchema": {"type": "object", "properties": SCHEMA["properties"]}},
]


def call(id, params):
    name = params["name"]
    if name == "error":
        return send({"id": id, "error": {"code": -32000, "message": EVIL, "data": EVIL}})
    if name == "die":
        stderr(EVIL.encode() + b"\x9b2J\x1bc\n")
        os._exit(3)
    token = params.get("_meta", {}).get("progressToken")
    if name == "progress" and token is not None:
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": EVIL}
        send({"method": "notifications/progress", "params": progress})
        time.sleep(0.3)
    content = [
        {"type": "text", "text": EVIL},
        {"type": "resource", "resource": {"uri": EVIL, "mimeType": EVIL, "text": EVIL}},
        {"type": "resource_link", "uri": EVIL, "name": EVIL, "mimeType": EVIL},
        {"type": "image", "data": EVIL, "mimeType": EVIL},
        {"type": EVIL, EVIL: EVIL},
    ]
    send({"id": id, "result": {"content": content, "isError": name == "fails"}})


def answer(message):
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize":
        info = {"name": EVIL, "title": EVIL, "version": EVIL}
        version = params["protocolVersion"]
        send({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info, "instructions": EVIL}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        call(id, params)
    elif id is not None and method:
        send({"id": id, "error": {"code": -32601, "message": EVIL}})


stderr(EVIL.encode() + b"\x9b2J\x1bc\n")
if MODE == "die":
    sys.exit(3)
if MODE == "junk":
    sys.stdout.write((EVIL + "\n") * 30)
    sys.stdout.flush()
if MODE == "tell" or MODE == "tell-and-die":
    for line in spellings(os.environ["SECRET"]):
        stderr(line + "\n")
    if MODE == "tell-and-die":
        for line in os.environ["SECRET"].splitlines():
            stderr(line + "\n")
        sys.exit(3)
if MODE == "flood":
    threading.Thread(target=flood, daemon=True).start()
for line in sys.stdin:
    answer(json.loads(line))
