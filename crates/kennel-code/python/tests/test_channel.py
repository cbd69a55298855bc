"""Packets, messages, tokens, and who reads them."""
import json
import os
import re
import shutil
import signal
import tempfile
import threading
import unittest

from case import BoxCase
from harness import FS, HEADER, TIME, Ended, text_result


class Packets(BoxCase):
    def test_ready_says_what_runs(self):
        self.assertRegex(self.box.ready["python"], r"^3\.\d+\.\d+$")
        self.assertEqual(self.box.ready["pid"], self.box.pid)

    def test_the_channel_is_where_the_argument_says(self):
        box = self.fresh(channel=900, cwd=os.path.dirname(__file__))
        box.servers(FS)
        host = lambda message: text_result("x")
        self.assertEqual(self.good("mcp_file_system.odd.sync(), await mcp_file_system.odd()", box, host=host).value, "('x', 'x')")
        self.assertEqual(self.good("import sys; sys.argv", box).value, "['']")
        self.assertEqual(self.good("import harness; harness.__name__", box).value, "'harness'")
        self.good("import os; os.closerange(3, 900)", box)
        self.alive(box)

    def test_a_cell_of_many_packets(self):
        self.assertEqual(self.good("x = '%s'\nlen(x)" % ("é" * 300000)).value, "300000")

    def test_arguments_and_results_of_many_packets(self):
        self.box.servers(FS)
        seen = []

        def host(message):
            seen.append(message["arguments"])
            return text_result(message["arguments"]["text"] + "!")

        for code in ("await mcp_file_system.odd(text='ü' * 5_000_000)", "mcp_file_system.odd.sync(text='ü' * 5_000_000)"):
            self.assertEqual(self.good("r = %s\nlen(r), r[-2:]" % code, host=host).value, "(5000001, 'ü!')")
        self.assertEqual(seen, [{"text": "ü" * 5_000_000}] * 2)

    def test_messages_over_the_limit_are_refused(self):
        self.box.servers(FS)
        error = self.bad("mcp_file_system.odd.sync(text='x' * (17 << 20))", "MCPError")
        self.assertIn("over the limit", error["message"])
        self.alive()

    def test_replies_over_the_limit_fail_their_call(self):
        self.box.servers(FS)
        body = b'{"t":"reply","n":%d,"ok":"%s"}'
        token, name = self.box.begin("try:\n    await mcp_file_system.odd()\nexcept MCPError as e:\n    print(e.kind)")
        _, asked = self.box.receive()
        writer = threading.Thread(target=self.box.send, args=(token, None, body % (asked["n"], b"x" * (66 << 20))))
        writer.start()
        result = self.box.finish(token, name)
        writer.join()
        self.assertEqual(result.out, "protocol\n")
        self.alive()

    def test_packets_of_unknown_tokens_are_dropped(self):
        self.box.servers(FS)
        token, name = self.box.begin("mcp_file_system.odd.sync()")
        _, asked = self.box.receive()
        other = os.urandom(16)
        self.box.send(other, {"t": "reply", "n": asked["n"], **text_result("forged")})
        self.box.send(other, {"t": "cell", "cell": "x", "code": "print('no')", "servers": None})
        self.box.send(self.box.token, {"t": "reply", "n": asked["n"], **text_result("forged too")})
        self.box.send(token, {"t": "reply", "n": asked["n"] + 1, **text_result("unasked")})
        self.box.send(token, {"t": "reply", "n": asked["n"], **text_result("true")})
        result = self.box.finish(token, name)
        self.assertEqual((result.value, result.out), ("'true'", ""))
        self.box.send(other, {"t": "servers", "servers": []})
        self.assertEqual(self.good("mcp.runtime.list_servers_sync()").value, "['file_system']")
        self.assertEqual(self.box.foreign, [])

    def test_a_message_that_was_broken_off_is_dropped(self):
        token = os.urandom(16)
        self.box.socket.sendall(HEADER.pack(token, 9999999, 1) + b'{"t":"cell",')
        self.alive()

    def test_garbage_is_dropped(self):
        for packet in (b"x", HEADER.pack(self.box.token, 1, 0), HEADER.pack(self.box.token, 1, 0) + b"\xff", HEADER.pack(self.box.token, 1, 0) + b"[]"):
            self.box.socket.sendall(packet)
        self.alive()

    def test_the_process_ends_with_its_channel(self):
        for code in (None, "import time; print('begun', flush=True); mcp_file_system.odd.sync()"):
            box = self.fresh()
            box.servers(FS)
            if code:
                box.begin(code)
                box.receive()
            box.socket.close()
            self.assertEqual(box.wait(), 0)

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_only_sendmsg_and_recvmsg_use_the_channel(self):
        refused = "read,readv,pread64,preadv,write,writev,pwrite64,pwritev,recvfrom,sendto,recvmmsg,sendmmsg,dup,dup2,dup3,fcntl,close,splice,sendfile,shutdown,setsockopt"
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            box = self.fresh(wrapper=["strace", "-f", "-qq", "-o", log, "-e", "trace=" + refused])
            box.servers(FS)
            host = lambda message: text_result("x")
            self.good("import asyncio\nawait asyncio.gather(*[mcp_file_system.odd() for _ in range(3)])\nmcp_file_system.odd.sync()", box, host=host)
            self.good("import subprocess, os, sys\nsubprocess.run([sys.executable, '-c', 'pass'], close_fds=False)\nif os.fork() == 0: os._exit(0)\nos.wait()", box)
            self.good("asyncio.run(mcp_file_system.odd())", box, host=host)
            self.alive(box)
            with open(log) as file:
                lines = [line.split(None, 1) for line in file.read().splitlines()]
            # A child that runs another program has its own descriptor 3.
            lines = [line[1] for line in lines if line[0] == str(box.ready["pid"])]
            used = [line for line in lines if re.match(r"\w+\((\d+, )?3[,)]", line)]
            self.assertEqual([line for line in used if "F_SETFD" not in line and "F_GETF" not in line], [])
            self.assertGreater(len(lines), 10)


class Readers(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.servers(FS, TIME)

    def answered_backwards(self, code, count):
        """Runs a cell that must have `count` calls under way before the first is answered; the last is answered first."""
        token, name = self.box.begin(code)
        asks = []
        while len(asks) < count:
            got, message = self.box.receive()
            self.assertEqual((got, message["t"]), (token, "ask"))
            asks.append(message)
        for message in reversed(asks):
            self.box.send(token, {"t": "reply", "n": message["n"], **text_result("r%d" % message["arguments"]["i"])})
        result = self.box.finish(token, name)
        self.assertEqual(result.status, "success", result)
        return result

    def test_gathered_calls_run_in_parallel(self):
        code = "import asyncio\nr = await asyncio.gather(*[mcp_file_system.odd(i=i) for i in range(50)])\nr == ['r%d' % i for i in range(50)]"
        self.assertEqual(self.answered_backwards(code, 50).value, "True")

    def test_threads_call_in_parallel(self):
        code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(20) as pool:
    r = list(pool.map(lambda i: mcp_file_system.odd.sync(i=i), range(20)))
r == ['r%d' % i for i in range(20)]
"""
        self.assertEqual(self.answered_backwards(code, 20).value, "True")

    def test_threads_loops_and_tasks_call_at_once(self):
        code = """
import asyncio, threading
got = {}
def sync(i): got[i] = mcp_file_system.odd.sync(i=i)
def loop(i):
    async def both():
        got[i], got[i + 1] = await asyncio.gather(mcp_file_system.odd(i=i), mcp_file_system.odd(i=i + 1))
    asyncio.run(both())
threads = [threading.Thread(target=sync, args=(i,)) for i in range(5)]
threads += [threading.Thread(target=loop, args=(i,)) for i in range(5, 15, 2)]
for thread in threads: thread.start()
r = await asyncio.gather(*[mcp_file_system.odd(i=i) for i in range(15, 20)])
got.update(zip(range(15, 20), r))
for thread in threads: await asyncio.get_running_loop().run_in_executor(None, thread.join)
got == {i: 'r%d' % i for i in range(20)}
"""
        self.assertEqual(self.answered_backwards(code, 20).value, "True")

    def test_a_follower_is_not_starved_by_a_slow_leader(self):
        code = """
import threading
order = []
def call(i):
    mcp_file_system.odd.sync(i=i)
    order.append(i)
    print('done', i, flush=True)
threads = [threading.Thread(target=call, args=(i,)) for i in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
        token, name = self.box.begin(code)
        asks = sorted((self.box.receive()[1] for _ in range(3)), key=lambda message: message["n"])
        # The first asker leads; the others get theirs while it goes on waiting.
        for message in asks[1:]:
            self.box.send(token, {"t": "reply", "n": message["n"], **text_result("")})
            self.box.out.wait(b"done %d" % message["arguments"]["i"])
        self.box.send(token, {"t": "reply", "n": asks[0]["n"], **text_result("")})
        self.assertEqual(self.box.finish(token, name).status, "success")

    def test_synchronous_and_awaited_calls_mix_in_one_cell(self):
        code = """
import asyncio
task = asyncio.ensure_future(mcp_file_system.odd(i=0))
await asyncio.sleep(0)
a = mcp_file_system.odd.sync(i=1)
(a, await task)
"""
        self.assertEqual(self.answered_backwards(code, 2).value, "('r1', 'r0')")

    def test_a_cancelled_call_is_cancelled_at_the_host(self):
        code = """
import asyncio
task = asyncio.ensure_future(mcp_file_system.odd(i=1))
await asyncio.sleep(0)
task.cancel()
try: await task
except asyncio.CancelledError: print('cancelled')
try: await asyncio.wait_for(mcp_file_system.odd(i=2), 0.01)
except asyncio.TimeoutError: print('late')
"""
        result = self.good(code)
        self.assertEqual(result.out, "cancelled\nlate\n")
        self.assertEqual([(m["t"], m["n"]) for m in result.asks], [(t, n["n"]) for n in result.asks[::2] for t in ("ask", "cancel")])

    def test_calls_end_with_their_cell(self):
        token, name = self.box.begin(
            """
import asyncio, threading
ended = []
def thread():
    for _ in range(2):
        try: mcp_file_system.odd.sync(i=1)
        except MCPError as error: ended.append((error.kind, 'over' in str(error)))
    done.set()
done = threading.Event()
threading.Thread(target=thread).start()
async def task():
    try: await mcp_file_system.odd(i=2)
    except MCPError as error: ended.append((error.kind, 'over' in str(error)))
left = asyncio.ensure_future(task())
await mcp_file_system.odd(i=3)
"""
        )
        asks = [self.box.receive()[1] for _ in range(3)]
        number = next(message["n"] for message in asks if message["arguments"]["i"] == 3)
        self.box.send(token, {"t": "reply", "n": number, **text_result("")})
        self.assertEqual(self.box.finish(token, name).status, "success")
        self.alive()
        # The thread asks again at once, when no cell runs or already the next one does.
        token, name = self.box.begin("await left\nawait asyncio.get_running_loop().run_in_executor(None, done.wait)\nended")
        result = self.box.finish(token, name, host=lambda message: {"error": {"kind": "refused", "message": "over"}})
        self.assertEqual(result.value, str([("refused", True)] * 3))
        self.assertEqual(self.box.foreign, [])

    def test_a_thread_that_leads_hands_the_next_cell_to_the_main_thread(self):
        box = self.fresh()
        box.servers(FS)
        token, name = box.begin(
            """
import threading, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def f():
    try: mcp_file_system.odd.sync()
    except MCPError: pass
t = threading.Thread(target=f)
t.start()
signal.sigwait([signal.SIGUSR1])
"""
        )
        box.receive()
        os.kill(box.pid, signal.SIGUSR1)
        self.assertEqual(box.finish(token, name).status, "success")
        for _ in range(3):
            self.alive(box)
        self.good("t.join()", box)

    def test_servers_sent_while_a_cell_runs_are_there_in_the_next(self):
        token, name = self.box.begin("mcp_file_system.odd.sync()")
        _, asked = self.box.receive()
        self.box.servers(TIME)
        self.box.send(token, {"t": "reply", "n": asked["n"], **text_result("x")})
        self.assertEqual(self.box.finish(token, name).value, "'x'")
        self.assertEqual(self.good("mcp.runtime.list_servers_sync()").value, "['time']")

    def test_deep_and_odd_replies(self):
        deep = b"[" * 200000 + b"]" * 200000
        big = b"9" * 10000
        for inner in (deep, b'{"content":[{"type":"text","text":"x"}],"n":' + big + b"}", b"nonsense"):
            token, name = self.box.begin("try: r = mcp_file_system.odd.sync()\nexcept MCPError as e: r = e.kind\nr")
            _, asked = self.box.receive()
            self.box.send(token, None, b'{"t":"reply","n":%d,"ok":%s}' % (asked["n"], inner))
            self.assertIn(self.box.finish(token, name).value, ("'protocol'", "'x'"))
        self.alive()

    def test_objects_that_are_not_json(self):
        for code, kind in (
            ("object()", "TypeError"),
            ("float('nan')", "ValueError"),
            ("'\\ud800'", "UnicodeEncodeError"),
            ("(lambda a: a.append(a) or a)([])", "ValueError"),
            ("{1j: 2}", "TypeError"),
        ):
            self.bad("mcp_file_system.odd.sync(x=%s)" % code, kind)
        code = """
import pathlib, datetime, enum, dataclasses
class Colour(enum.Enum): RED = 'red'
@dataclasses.dataclass
class Point: x: int
mcp_file_system.odd.sync(p=pathlib.Path('/a'), d=datetime.date(2026, 1, 2), c=Colour.RED, s={1}, q=Point(3), t=(1, 2))
"""
        result = self.good(code, host=lambda message: {"ok": {"structuredContent": message["arguments"]}})
        self.assertEqual(json.loads(result.value.replace("'", '"')), {"p": "/a", "d": "2026-01-02", "c": "red", "s": [1], "q": {"x": 3}, "t": [1, 2]})


class Hosts(BoxCase):
    def test_every_kind_of_end_closes_the_channel(self):
        for code in ("import os; os._exit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "import os; os.execv('/bin/true', ['true'])"):
            box = self.fresh()
            token, name = box.begin(code)
            with self.assertRaises(Ended):
                box.finish(token, name)
            box.wait()


if __name__ == "__main__":
    unittest.main()
