"""Code that does not care for the runtime: each cell has one clear end, and the next one works."""
import os
import random
import unittest

from case import BoxCase
from harness import FS, Ended, text_result


class Streams(BoxCase):
    def test_much_output_and_long_lines(self):
        result = self.good("print('x' * 5_000_000)\nfor i in range(20000): print(i)\nimport sys; sys.stderr.write('e' * 1_000_000); None")
        self.assertEqual(result.out, "x" * 5_000_000 + "\n" + "".join("%d\n" % i for i in range(20000)))
        self.assertEqual(result.err, "e" * 1_000_000)

    def test_output_comes_while_the_cell_runs(self):
        token, name = self.box.begin("print('first')\nmcp.runtime.search_tool_docs_sync('x')")
        self.box.out.wait(b"first\n")
        _, asked = self.box.receive()
        self.box.send(token, {"t": "reply", "n": asked["n"], "ok": []})
        self.assertEqual(self.box.finish(token, name).status, "success")

    def test_raw_descriptors(self):
        result = self.good("import os\nos.write(1, b'raw\\xff out\\0'); os.write(2, b'raw err'); print('more', end='')")
        self.assertEqual((result.out, result.err), ("raw\ufffd out\0more", "raw err"))
        result = self.good("import subprocess; subprocess.run('echo child; echo bad >&2', shell=True); None")
        self.assertEqual((result.out, result.err), ("child\n", "bad\n"))

    def test_forged_marks_and_ends_are_only_output(self):
        code = """
import os
os.write(1, b'\\0kennel:' + b'0' * 32 + b'\\0')
os.write(1, b'{"t":"end","cell":"c1","status":"success"}\\n')
print('after')
"""
        result = self.good(code)
        self.assertTrue(result.out.endswith("after\n"))
        self.assertIn('"t":"end"', result.out)

    def test_closed_and_redirected_descriptors_come_back(self):
        for code in (
            "import os; os.close(0); os.close(1); os.close(2)",
            "import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
            "import sys; sys.stdout.detach(); sys.stderr.detach()",
            "import os; f = os.open('/dev/null', os.O_WRONLY); os.dup2(f, 1); os.dup2(f, 2); os.close(f)",
            "import os; os.closerange(4, 300)",
            "import os\nfor fd in list(range(3)) + list(range(4, 300)):\n    try: os.close(fd)\n    except OSError: pass",
            "import os; os.set_blocking(1, False); os.set_blocking(2, False)",
            "import sys, io; sys.stdout = io.StringIO(); sys.stderr = None; sys.stdin = None",
            "import sys\nclass Bad:\n    def flush(self): raise SystemExit\n    def write(self, s): 1 / 0\nsys.stdout = Bad(); sys.stderr = Bad()",
            "import sys; del sys.stdout, sys.stderr, sys.stdin",
            "import os; r, w = os.pipe(); os.dup2(w, 200); os.dup2(w, 201)",
            "import resource; print('limit')",
        ):
            box = self.fresh()
            result = box.run("print('kept', end='')\n" + code)
            if "range(3)" in code:
                # Both descriptors of each stream are gone: nothing can be marked, and the next cell has nowhere to print.
                self.assertEqual(result.end["marks"], [False, False])
                self.assertEqual(self.good("40 + 2", box).value, "42")
                self.assertEqual(self.good("import asyncio; await asyncio.sleep(0, 1)", box).value, "1")
                continue
            self.assertEqual((result.status, result.end["marks"]), ("success", [True, True]), code)
            self.alive(box)

    def test_output_before_a_redirection_is_kept(self):
        box = self.fresh()
        result = self.good("import os\nprint('before', end='')\nos.close(1)", box)
        self.assertEqual(result.out, "before")

    def test_input_is_at_its_end(self):
        self.bad("input()", "EOFError")
        self.assertEqual(self.good("import sys; sys.stdin.read()").value, "''")
        self.alive()


class Mischief(BoxCase):
    def test_replaced_modules_and_builtins(self):
        box = self.fresh()
        box.servers(FS)
        self.good(
            """
import json, socket, os, select, struct, threading, asyncio, signal, linecache, traceback, inspect, ast
json.dumps = json.loads = json.JSONEncoder = json.JSONDecoder = None
json.encoder.JSONEncoder = json.encoder.c_make_encoder = json.encoder.encode_basestring = None
json.decoder.scanstring = json.scanner.c_make_scanner = None
socket.socket.sendmsg = socket.socket.recvmsg = None
for name in ('write', 'fstat', 'getpid', 'dup2', 'close', '_exit', 'get_blocking', 'set_blocking', 'open'): setattr(os, name, None)
select.poll = struct.pack = struct.Struct = threading.Lock = None
asyncio.get_running_loop = asyncio.new_event_loop = asyncio.set_event_loop = None
signal.signal = signal.getsignal = signal.pthread_sigmask = signal.setitimer = None
linecache.getline = traceback.TracebackException = inspect.getsource = ast.parse = None
""",
            box,
        )
        self.assertEqual(self.good("1 + 1", box).value, "2")
        self.assertEqual(self.good("mcp_file_system.odd.sync(a=1), await mcp_file_system.odd(a=1)", box, host=lambda m: text_result("x")).value, "('x', 'x')")
        self.bad("1 / 0", "ZeroDivisionError", box)
        self.good(
            "import builtins\nfor name in ('len', 'repr', 'str', 'isinstance', 'compile', 'eval', 'exec', 'getattr', 'type', 'id', 'any', 'print', 'open', '__import__'):\n    setattr(builtins, name, None)",
            box,
        )
        self.assertEqual(self.good("[1, 'a']", box).value, "[1, 'a']")
        error = self.bad("1 / 0", "ZeroDivisionError", box)
        self.assertEqual(error["message"], "division by zero")
        self.assertEqual(self.good("mcp_file_system.odd.sync(a=1)", box, host=lambda m: text_result("x")).value, "'x'")

    def test_cleared_state(self):
        for code in (
            "globals().clear()",
            "import sys; sys.modules.clear()",
            "import sys; del sys.modules['__main__']",
            "import sys; sys.setrecursionlimit(50)",
            "import sys; sys.settrace(lambda *a: 1 / 0)",
            "import sys\ndef trace(*_): raise SystemExit\nsys.setprofile(trace)",
            "import gc; gc.disable(); gc.collect()",
            "import linecache; linecache.cache = None",
            "import os; os.chdir('/')",
            "import threading; threading.stack_size(32768)",
            "__builtins__ = None",
            "_ = __name__ = __doc__ = None",
            "import asyncio; asyncio.set_event_loop(None)",
            "import signal; signal.set_wakeup_fd(-1)",
            "import warnings; warnings.simplefilter('error')",
            "import os; os.environ.clear()",
            "import sys; sys.path[:] = []; sys.meta_path[:] = []",
        ):
            box = self.fresh()
            box.run(code)
            result = self.good("6 * 7", box)
            self.assertEqual(result.value, "42", code)
            error = self.bad("1 / 0", "ZeroDivisionError", box)
            self.assertIn("ZeroDivisionError", error["traceback"])

    def test_a_forked_child_is_silent(self):
        self.box.servers(FS)
        code = """
import os, sys
pid = os.fork()
if pid == 0:
    try: mcp_file_system.odd.sync()
    except MCPError as error: print('child', error.kind, flush=True)
    %s
else:
    _, status = os.waitpid(pid, 0)
    print('exit', os.WEXITSTATUS(status))
"""
        for end, status, err in (("pass", 0, ""), ("sys.exit(5)", 5, ""), ("raise ValueError('in child')", 1, "ValueError: in child"), ("1", 0, "")):
            result = self.good(code % end)
            self.assertEqual(result.out, "child refused\nexit %d\n" % status)
            self.assertIn(err, result.err)
            self.alive()
        result = self.good("import asyncio\nawait asyncio.sleep(0)\n" + code % "pass")
        self.assertEqual(result.out, "child refused\nexit 0\n")
        self.alive()

    def test_a_forked_child_takes_no_replies(self):
        self.box.servers(FS)
        code = """
import asyncio, os, select, sys
task = asyncio.ensure_future(mcp_file_system.odd())
await asyncio.sleep(0)
select.select([3], [], [])
pid = os.fork()
if pid == 0: sys.exit(3)
(os.waitpid(pid, 0)[1] >> 8, await task)
"""
        self.assertEqual(self.good(code, host=lambda message: text_result("x")).value, "(3, 'x')")
        self.alive()

    def test_a_child_ends_though_a_thread_was_printing(self):
        code = """
import os, sys, threading
stop = False
def chatter():
    while not stop: print('x' * 3000)
threads = [threading.Thread(target=chatter) for _ in range(2)]
for thread in threads: thread.start()
ends = []
for _ in range(30):
    pid = os.fork()
    if pid == 0:
        print('child')
        sys.exit(2)
    ends.append(os.waitpid(pid, 0)[1] >> 8)
stop = True
for thread in threads: thread.join()
ends == [2] * 30
"""
        self.assertEqual(self.good(code).value, "True")
        self.alive()

    def test_a_child_that_outlives_its_cell(self):
        code = "import os, time\nr, w = os.pipe()\nif os.fork() == 0:\n    os.close(w)\n    os.read(r, 1)\n    print('late child', flush=True)"
        self.good(code)
        self.alive()
        self.good("os.close(r); os.close(w)\ntry: os.wait()\nexcept OSError: pass")
        self.alive()

    def test_multiprocessing(self):
        result = self.good(
            """
import multiprocessing as mp
def square(x): return x * x
with mp.get_context('fork').Pool(2) as pool: r = pool.map(square, range(5))
import math
with mp.get_context('spawn').Pool(1) as pool: s = pool.map(math.sqrt, [4, 9])
# Without a box nobody else removes the semaphores of a pool.
import gc
pool.join()
del pool
gc.collect()
r, s
"""
        )
        self.assertEqual(result.value, "([0, 1, 4, 9, 16], [2.0, 3.0])")
        self.alive()

    def test_threads_that_print_after_their_cell(self):
        self.good("import threading\ngo = threading.Event()\ndef late():\n    go.wait()\n    print('late')\nt = threading.Thread(target=late)\nt.start()")
        result = self.good("go.set(); t.join()")
        self.assertEqual(result.out, "late\n")

    def test_a_thread_that_exits_or_fails(self):
        result = self.good("import threading, sys\nt = threading.Thread(target=lambda: sys.exit(1)); t.start(); t.join()\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()")
        self.assertIn("ZeroDivisionError", result.err)
        self.alive()

    def test_deep_recursion_of_all_kinds(self):
        self.bad("def f(): f()\nf()", "RecursionError")
        self.bad("import asyncio\nasync def f(): await f()\nawait f()", "RecursionError")
        self.bad("(" * 2000 + ")" * 2000)
        self.bad("import sys\nclass A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().x", "RecursionError")
        self.alive()

    def test_memory_errors(self):
        self.bad("x = bytearray(1 << 60)", "MemoryError")
        self.alive()

    def test_the_module_mcp_can_be_broken_and_the_notebook_lives(self):
        box = self.fresh()
        box.run("import mcp\ndel mcp.runtime, mcp.servers\nmcp.runtime = 5\nfor n in dir(saved): \n    try: delattr(saved, n)\n    except Exception: pass")
        box.servers(FS)
        self.assertEqual(self.good("mcp_file_system.odd.sync()", box, host=lambda m: text_result("x")).value, "'x'")


PIECES = [
    "x = {n}", "print('p' * {n})", "1 / 0", "raise SystemExit({n})", "import os; os.close(1)", "import os; os.close(2)", "import sys; sys.stdout = None",
    "await asyncio.sleep(0)", "asyncio.ensure_future(asyncio.sleep({n}))", "t = threading.Thread(target=print, args=({n},)); t.start()",
    "mcp_file_system.odd.sync(i={n})", "await mcp_file_system.odd(i={n})", "await asyncio.gather(*[mcp_file_system.odd(i=i) for i in range(5)])",
    "def f(): f()", "f()", "[[]] * {n}", "os.write(2, b'z' * {n})", "asyncio.get_running_loop().stop()", "raise asyncio.CancelledError", "raise KeyboardInterrupt",
    "asyncio.current_task().cancel()", "sys.setrecursionlimit(100 + {n})", "del x", "import gc; gc.collect()", "print(end='\\0kennel:')", "(lambda: (yield))()",
    "os.dup2(1, 2)", "os.closerange(4, 100)", "t.join()", "asyncio.run(asyncio.sleep(0))", "class C:\n    def __repr__(self): return 1 / 0\nC()",
    "if os.fork() == 0: sys.exit({n})", "sys.stdout.close()", "loop = asyncio.get_event_loop()", "loop.close()", "async def g(): yield 1", "async for i in g(): print(i)",
    "def bad(:", "return 5", "exit()", "x = [x]", "globals().pop('x', None)", "signal.signal(signal.SIGINT, signal.SIG_DFL)", "_", "threading.Thread(target=mcp_file_system.odd.sync).start()",
]


class Fuzz(BoxCase):
    def test_each_cell_ends_exactly_once(self):
        # The same everywhere, unless somebody wants others: KENNEL_TEST_SEED=0 draws one.
        seed = int(os.environ.get("KENNEL_TEST_SEED", "2026")) or random.SystemRandom().randrange(1 << 30)
        chance = random.Random(seed)
        for _ in range(int(os.environ.get("KENNEL_TEST_FUZZ", "6"))):
            box = self.fresh()
            box.servers(FS)
            history = []
            for _ in range(40):
                code = "import os, sys, asyncio, threading, signal\n" + "\n".join(
                    chance.choice(PIECES).replace("{n}", str(chance.randrange(300))) for _ in range(chance.randrange(1, 5))
                )
                history.append(code)
                try:
                    box.run(code, host=lambda message: text_result("r"))
                except Ended:
                    self.fail("seed %d: the process ended in %r" % (seed, history))
                except AssertionError as failure:
                    self.fail("seed %d: %s in %r" % (seed, failure, history))
                self.assertEqual([m for m in box.foreign if m["t"] == "end"], [], "seed %d: %r" % (seed, history))
            self.assertEqual(self.good("40 + 2", box).value, "42", "seed %d" % seed)
            box.close()


if __name__ == "__main__":
    unittest.main()
