"""Interrupts end the cell and nothing else."""
import threading
import unittest

from case import BoxCase
from harness import FS, text_result

READY = "import sys, time, asyncio, threading, subprocess\nstate = 'kept'\n"
BEGUN = "print('begun', flush=True)\n"
# Says it from within the loop, when the cell awaits.
WAITS = "asyncio.get_running_loop().call_soon(print, 'begun')\n"


class Interrupts(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.servers(FS)

    def interrupted(self, code, box=None, times=1, host=None, begun=BEGUN, blocks=False):
        """Runs a cell, interrupts it once it has begun, and sees the notebook work after it."""
        box = box or self.box
        token, name = box.begin(READY + begun + code)
        box.out.wait(b"begun")
        if host is not None:
            host(box)
        if blocks:
            box.asleep()
        for number in range(times):
            if number:
                box.out.wait(b"again %d" % number)
            box.interrupt()
        result = box.finish(token, name)
        self.assertEqual(result.status, "interrupted", result)
        self.assertIn("begun", result.out)
        self.assertEqual(self.good("state", box).value, "'kept'")
        self.alive(box)
        return result

    def test_a_pure_loop(self):
        result = self.interrupted("while True:\n    done += 1", begun="done = 0\n" + BEGUN)
        self.assertEqual(result.error["type"], "KeyboardInterrupt")
        self.assertIn("<cell", result.error["traceback"])
        self.assertNotIn("<kennel>", result.error["traceback"])
        self.assertGreaterEqual(int(self.good("done").value), 0)

    def test_sleep(self):
        self.interrupted("time.sleep(3600)", blocks=True)

    def test_await(self):
        result = self.interrupted("await asyncio.sleep(3600)", begun=WAITS, blocks=True)
        self.assertEqual(result.error["type"], "CancelledError")

    def test_awaiting_code_can_clean_up(self):
        result = self.interrupted("try:\n    await asyncio.sleep(3600)\nfinally:\n    print('cleaned')", begun=WAITS, blocks=True)
        self.assertIn("cleaned", result.out)

    def test_a_pure_loop_in_an_async_cell(self):
        result = self.interrupted("await asyncio.sleep(0)\nwhile True: pass")
        self.assertEqual(result.error["type"], "KeyboardInterrupt")

    def test_a_pure_loop_in_another_task(self):
        self.interrupted("async def spin():\n    print('begun', flush=True)\n    while True: pass\nawait asyncio.gather(spin(), asyncio.sleep(3600))", begun="")

    def test_a_pure_loop_in_a_callback(self):
        code = """
def spin():
    print("begun", flush=True)
    while True: pass
asyncio.get_running_loop().call_soon(spin)
await asyncio.sleep(3600)
"""
        self.interrupted(code, begun="")

    def test_a_loop_of_user_code(self):
        self.interrupted("asyncio.run(asyncio.sleep(3600))", blocks=True)

    def test_a_subprocess(self):
        self.interrupted("subprocess.run(['sleep', '3600'])", blocks=True)

    def test_a_thread_join(self):
        self.interrupted("thread = threading.Thread(target=time.sleep, args=(3600,), daemon=True)\nthread.start()\nthread.join()", blocks=True)

    def test_code_that_swallows_it_once(self):
        code = """
def hold(number):
    try:
        print("begun" if number == 0 else "again %d" % number, flush=True)
        while True: pass
    except KeyboardInterrupt:
        if number: raise
hold(0)
hold(1)
"""
        self.interrupted(code, times=2, begun="")

    def test_code_that_swallows_it_and_ends(self):
        token, name = self.box.begin(READY + "try:\n    print('begun', flush=True)\n    time.sleep(3600)\nexcept KeyboardInterrupt:\n    pass\n'fine'")
        self.box.out.wait(b"begun")
        self.box.interrupt()
        result = self.box.finish(token, name)
        self.assertEqual((result.status, result.value), ("success", "'fine'"))

    def test_a_repr_that_hangs(self):
        result = self.interrupted("class Slow:\n    def __repr__(self):\n        print('begun', flush=True)\n        while True: pass\nSlow()", begun="")
        self.assertEqual(result.error["type"], "KeyboardInterrupt")

    def test_an_exception_whose_text_hangs(self):
        self.interrupted("class Slow(Exception):\n    def __str__(self):\n        print('begun', flush=True)\n        while True: pass\nraise Slow", begun="")

    def test_attributes_of_results_in_a_loop(self):
        token, name = self.box.begin(READY + "r = mcp_file_system.odd.sync()\nprint('got', flush=True)\nwhile True: r.a")
        _, asked = self.box.receive()
        self.box.send(token, {"t": "reply", "n": asked["n"], **text_result('{"a": 1}')})
        self.box.out.wait(b"got")
        self.box.interrupt()
        self.assertEqual(self.box.finish(token, name).status, "interrupted")
        self.alive()

    def asked(self, box):
        """Waits for the ask, so that the cell is in its call."""
        _, message = box.receive()
        self.assertEqual(message["op"], "call_tool")
        self.number = message["n"]

    def test_a_synchronous_call(self):
        result = self.interrupted("mcp_file_system.read_file.sync('x')", host=self.asked, blocks=True)
        self.assertIn({"t": "cancel", "n": self.number}, result.asks)

    def test_an_awaited_call(self):
        result = self.interrupted("await mcp_file_system.read_file('x')", host=self.asked, blocks=True)
        self.assertIn({"t": "cancel", "n": self.number}, result.asks)

    def test_a_synchronous_call_in_an_async_cell(self):
        result = self.interrupted("await asyncio.sleep(0)\nmcp_file_system.read_file.sync('x')", host=self.asked, blocks=True)
        self.assertIn({"t": "cancel", "n": self.number}, result.asks)

    def test_a_synchronous_call_that_follows_a_thread(self):
        code = """
def quiet():
    try: mcp_file_system.odd.sync()
    except MCPError: pass
threading.Thread(target=quiet, daemon=True).start()
mcp_file_system.read_file.sync('x')
"""

        def two(box):
            self.asked(box)
            self.asked(box)

        self.interrupted(code, self.fresh_with_servers(), host=two, blocks=True)

    def fresh_with_servers(self):
        box = self.fresh()
        box.servers(FS)
        return box

    def test_interrupts_lose_no_replies_of_others(self):
        """An interrupt that strikes while packets are read and handed out loses none of them and no lock."""
        box = self.fresh_with_servers()
        code = """
import threading
done, caught, begun = [], 0, threading.Event()
def work():
    begun.wait()
    for _ in range(300): assert mcp_file_system.odd.sync() == "x"
    done.append(1)
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
begun.set()
while len(done) < 3:
    try:
        for _ in range(100): assert mcp_file_system.odd.sync() == "x"
    except KeyboardInterrupt:
        caught += 1
"""
        token, name = box.begin(code)
        over = threading.Event()

        def pester():
            while not over.wait(0.0005):
                box.interrupt()

        # The first ask comes when all threads have been started: early interrupts end the cell.
        first = box.receive()[1]
        thread = threading.Thread(target=pester)
        answered = 0

        def host(message):
            nonlocal answered
            answered += 1
            if answered == 50:
                thread.start()
            return text_result("x") if message["t"] == "ask" else None

        box.send(token, {"t": "reply", "n": first["n"], **text_result("x")})
        try:
            result = box.finish(token, name, host)
        finally:
            over.set()
            thread.join()
        self.assertIn(result.status, ("success", "interrupted"), result)
        if result.status == "interrupted":
            # It struck outside of the try; the threads go on in the next cell.
            self.good("for thread in threads: thread.join()", box, host=host)
        self.alive(box)

    def test_nothing_runs(self):
        for _ in range(50):
            self.box.interrupt()
            self.assertEqual(self.good("1 + 1").value, "2") if _ == 49 else None
        self.alive()

    def test_handlers_of_user_code_last_one_cell(self):
        self.good("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])")
        self.interrupted("time.sleep(3600)", blocks=True)

    def test_alarms_end_with_their_cell(self):
        self.good("import signal\ndef late(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, late)\nsignal.setitimer(signal.ITIMER_REAL, 0.2)")
        self.good("import time\ntime.sleep(0.4)")
        self.bad("signal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(3600)", "TimeoutError")
        self.alive()


if __name__ == "__main__":
    unittest.main()
