"""A stand-in for the host: starts the runtime with a real socket pair and real pipes, and talks with it."""
import glob
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.dirname(HERE)
HEADER = struct.Struct("<16sIB3x")
# Generous: it only decides when a hang is called one.
PATIENCE = float(os.environ.get("KENNEL_TEST_PATIENCE", "60"))


def source():
    files = sorted(glob.glob(os.path.join(FOLDER, "[0-9][0-9]_*.py")))
    parts = []
    for name in files:
        with open(name, "rb") as file:
            parts.append(file.read())
    return b"\n".join(parts)


def boot():
    with open(os.path.join(FOLDER, "boot.py"), encoding="utf-8") as file:
        return file.read()


class Ended(Exception):
    """The process has closed its channel."""


class Stream:
    """Reads one of the process's pipes as fast as it can."""

    def __init__(self, fd):
        self.fd = fd
        self.data = bytearray()
        self.changed = threading.Condition()
        self.ended = False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while True:
            chunk = os.read(self.fd, 1 << 20)
            with self.changed:
                if chunk:
                    self.data += chunk
                else:
                    self.ended = True
                self.changed.notify_all()
            if not chunk:
                return

    def until(self, mark):
        """What came up to the mark, which must come; both leave the stream."""
        with self.changed:
            if not self.changed.wait_for(lambda: mark in self.data or self.ended, PATIENCE):
                raise AssertionError("no mark came; %r" % bytes(self.data[-200:]))
            where = self.data.find(mark)
            if where < 0:
                raise AssertionError("the stream ended without its mark")
            found = bytes(self.data[:where])
            del self.data[: where + len(mark)]
            return found

    def wait(self, text):
        with self.changed:
            if not self.changed.wait_for(lambda: text in self.data, PATIENCE):
                raise AssertionError("%r did not come; %r" % (text, bytes(self.data[-200:])))

    def rest(self):
        with self.changed:
            found = bytes(self.data)
            self.data.clear()
            return found


class Result:
    def __init__(self, end, stdout, stderr, asks):
        self.end, self.asks = end, asks
        self.out, self.err = stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")
        self.status, self.value, self.error = end["status"], end.get("value"), end.get("error")
        self.exit = end.get("exit")

    def __repr__(self):
        return "Result(%r, out=%r, err=%r)" % (self.end, self.out[-2000:], self.err[-2000:])


class Box:
    """One runtime process."""

    def __init__(self, cwd=None, wrapper=(), channel=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket = ours
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, in_read, 0),
            (os.POSIX_SPAWN_DUP2, out_write, 1),
            (os.POSIX_SPAWN_DUP2, err_write, 2),
            (os.POSIX_SPAWN_DUP2, theirs.fileno(), channel or 3),
        ]
        program = [*wrapper, sys.executable, "-I", "-B", "-X", "utf8", "-c", boot(), *([str(channel)] if channel else [])]
        self.pid = os.posix_spawnp(program[0], program, dict(os.environ), file_actions=actions, setpgroup=0)
        self.status = None
        theirs.close()
        for fd in (in_read, out_write, err_write):
            os.close(fd)
        self.out, self.err = Stream(out_read), Stream(err_read)
        with open(in_write, "wb") as stdin:
            stdin.write(source())
        self.token = os.urandom(16)
        self.number = 0
        self.cells = 0
        self.partial = {}
        self.answers = {}
        self.foreign = []
        self.closed = False
        # A cell has begun whose end nobody has seen.
        self.busy = False
        self.send(self.token, {"t": "hello", "paths": {"workspace": cwd or "/nonexistent"}, "version": "0.1.0"})
        token, self.ready = self.receive()
        assert token == self.token and self.ready["t"] == "ready", self.ready

    # Packets

    def send(self, token, message, body=None):
        body = json.dumps(message).encode("utf-8") if body is None else body
        self.number += 1
        for start in range(0, len(body), 65536):
            more = start + 65536 < len(body)
            self.socket.sendall(HEADER.pack(token, self.number, int(more)) + body[start : start + 65536])

    def receive(self, timeout=PATIENCE):
        """The next whole message: (token, object)."""
        while True:
            if not select.select([self.socket], [], [], timeout)[0]:
                raise AssertionError("the runtime said nothing")
            packet = self.socket.recv(HEADER.size + 65536)
            if not packet:
                raise Ended
            token, number, more = HEADER.unpack_from(packet)
            self.partial.setdefault((token, number), []).append(packet[HEADER.size :])
            if not more:
                return token, json.loads(b"".join(self.partial.pop((token, number))))

    # Cells

    def begin(self, code, servers=None):
        """Starts a cell; its token and name."""
        self.cells += 1
        self.busy = True
        name, token = "c%d" % self.cells, os.urandom(16)
        self.send(token, {"t": "cell", "cell": name, "code": code, "servers": servers})
        return token, name

    def finish(self, token, name, host=None):
        """Answers asks until the cell ends."""
        asks = []
        while True:
            got, message = self.receive()
            if got != token:
                self.foreign.append(message)
                continue
            if message["t"] == "end":
                assert message["cell"] == name, message
                mark = b"\0kennel:" + token.hex().encode() + b"\0"
                parts = [stream.until(mark) if there else b"" for stream, there in zip((self.out, self.err), message["marks"])]
                self.busy = False
                return Result(message, *parts, asks)
            asks.append(message)
            if host is not None and message["t"] == "ask":
                reply = host(message)
                if reply is not None:
                    self.send(token, {"t": "reply", "n": message["n"], **reply})

    def run(self, code, servers=None, host=None):
        return self.finish(*self.begin(code, servers), host=host)

    def servers(self, *servers):
        self.send(self.token, {"t": "servers", "servers": list(servers)})

    def interrupt(self):
        os.kill(self.pid, signal.SIGINT)

    def asleep(self):
        """Waits until the process blocks: its main thread sleeps whenever one looks."""
        deadline, seen = time.monotonic() + PATIENCE, 0
        while seen < 5:
            with open("/proc/%d/task/%d/stat" % (self.pid, self.pid)) as file:
                state = file.read().rpartition(")")[2].split()[0]
            seen = seen + 1 if state == "S" else 0
            if time.monotonic() > deadline:
                raise AssertionError("the process does not come to rest")
            time.sleep(0.002)

    # End

    def wait(self):
        """How the process ended."""
        if self.status is None:
            deadline = time.monotonic() + PATIENCE
            while self.status is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.status = status
                elif time.monotonic() > deadline:
                    raise AssertionError("the process does not end")
                else:
                    time.sleep(0.01)
        return self.status

    def close(self):
        if self.closed:
            return
        self.closed = True
        self.socket.close()
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()
        try:
            # What the process forked, as a box would.
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for stream in (self.out, self.err):
            stream.thread.join(PATIENCE)
            os.close(stream.fd)


def text_result(text):
    return {"ok": {"content": [{"type": "text", "text": text}]}}


FS = {
    "name": "file system",
    "alias": "file_system",
    "description": "Files.",
    "tools": [
        {
            "name": "read-file",
            "python": "read_file",
            "doc": "Reads a file.\n\nWhole.",
            "signature": "(path: str, *, head: int | None = None, tail: int = 5) -> str",
            "read_only": True,
        },
        {"name": "put", "python": "put", "doc": "", "signature": "(from_: str, data: dict[str, Any])", "names": {"from_": "from"}},
        {"name": "odd", "python": "odd", "doc": "", "signature": "(no signature"},
    ],
}
TIME = {"name": "time", "alias": "time", "description": "", "tools": [{"name": "now", "python": "now", "doc": "", "signature": "()"}]}
