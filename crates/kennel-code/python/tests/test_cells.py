"""Cells: values, state, exceptions, sources."""
import unittest

from case import BoxCase


class Values(BoxCase):
    def test_the_last_expression_is_shown_and_kept(self):
        self.assertEqual(self.good("x = 20\nx + 1").value, "21")
        self.assertEqual(self.good("_ * 2").value, "42")
        self.assertIsNone(self.good("None").value)
        self.assertIsNone(self.good("y = 3").value)
        self.assertIsNone(self.good("").value)
        self.assertIsNone(self.good("# nothing").value)
        self.assertEqual(self.good("'a text'").value, "'a text'")
        self.assertEqual(self.good("import asyncio\nasync def f(): return 5\nawait f()").value, "5")
        self.assertEqual(self.good("[await f() for _ in range(3)]").value, "[5, 5, 5]")
        self.assertEqual(self.good("_").value, "[5, 5, 5]")
        self.assertIsNone(self.good("z = await f()\nif z: pass").value)

    def test_values_look_as_repr_says(self):
        for expression in (
            "[1, 'a', (1,), (), {}, {1: [2]}, set(), {3}, frozenset(), frozenset({1}), b'x', bytearray(b'y'), 1.5, None, True, range(3)]",
            "{'a': {'b': [1, 2, (3, 4)]}}",
            "'\\n\"\\''",
            "__import__('collections').OrderedDict(a=1)",
            "10 ** 30",
            "float('nan')",
        ):
            result = self.good(expression)
            self.assertEqual(result.value, repr(eval(expression)))

    def test_large_values_are_cut_without_being_made(self):
        for code, note in (
            ("list(range(10 ** 6))", "1000000 items in all"),
            ("'x' * 10 ** 7", "10000000 long"),
            ("b'x' * 10 ** 7", "10000000 long"),
            ("{'a': ['x' * 10 ** 7] * 1000}", "1 items in all"),
            ("type('Long', (), {'__repr__': lambda self: 'y' * 10 ** 6})()", "cut at"),
        ):
            value = self.good(code).value
            self.assertLess(len(value), 20100)
            self.assertGreater(len(value), 19000)
            self.assertIn(note, value)

    def test_large_texts_are_not_written_out_to_be_cut(self):
        self.good("import resource\ndata = b'\\xff' * 50_000_000\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss")
        self.assertIn("50000000 long", self.good("[data]").value + self.good("data").value)
        self.assertLess(int(self.good("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before").value), 50_000)

    def test_recursive_and_deep_values(self):
        self.assertEqual(self.good("a = [1]; a.append(a); a").value, "[1, [...]]")
        self.assertEqual(self.good("d = {}; d['d'] = d; d").value, "{'d': {...}}")
        self.assertIn("[[[", self.good("a = []\nfor _ in range(100000): a = [a]\na").value)
        self.assertEqual(self.good("x = [1]; [x, x]").value, "[[1], [1]]")
        self.good("del a, d")

    def test_failing_reprs(self):
        for raised, named in (("ValueError('boom')", "ValueError: boom"), ("SystemExit(3)", "SystemExit"), ("RecursionError()", "RecursionError")):
            code = "class Bad:\n    def __repr__(self): raise %s\n[1, Bad()]" % raised
            value = self.good(code).value
            self.assertTrue(value.startswith("[1, <Bad whose repr failed: " + named), value)
        self.assertIn("repr failed: TypeError", self.good("class Bad:\n    def __repr__(self): return 5\nBad()").value)

    def test_huge_integers(self):
        result = self.good("10 ** 10000")
        self.assertTrue("digits" in result.value or result.value.startswith("1000"), result)

    def test_lone_surrogates_are_escaped(self):
        result = self.good("print('\\ud800'); type('S', (), {'__repr__': lambda self: '\\udc00'})()")
        self.assertEqual((result.value, result.out), ("\\udc00", "\\ud800\n"))
        self.assertIn("\\ud800", self.bad("raise ValueError('\\ud800')")["message"])


class State(BoxCase):
    def test_main_is_a_real_module(self):
        self.good(
            """
import pickle, dataclasses, typing, inspect, sys, enum

@dataclasses.dataclass
class Point:
    x: int
    y: "int" = 2
    def twice(self):
        return self.x * 2

class Colour(enum.Enum):
    RED = 1

def add(a: "Point", b: int) -> int:
    return a.x + b
"""
        )
        self.good(
            """
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
assert pickle.loads(pickle.dumps(add)) is add
assert typing.get_type_hints(add) == {"a": Point, "b": int, "return": int}
assert typing.get_type_hints(Point) == {"x": int, "y": int}
assert inspect.getsource(add) == "def add(a: \\"Point\\", b: int) -> int:\\n    return a.x + b\\n", inspect.getsource(add)
assert inspect.getsource(Point.twice).strip().startswith("def twice")
assert "class Point" in inspect.getsource(Point)
assert "RED" in inspect.getsource(Colour)
"""
        )

    def test_errors_keep_what_was_done(self):
        self.bad("kept = 'yes'\nraise ValueError", "ValueError")
        self.assertEqual(self.good("kept").value, "'yes'")

    def test_the_namespace_holds_nothing_of_the_runtime(self):
        names = eval(self.fresh().run("sorted(globals())").value)
        self.assertEqual(
            names,
            sorted(["MCPError", "__builtins__", "__doc__", "__loader__", "__name__", "__package__", "__spec__", "mcp", "saved"]),
        )

    def test_tasks_left_over_go_on_in_the_next_cell_that_awaits(self):
        self.good("import asyncio\nseen = []\nasync def later():\n    await asyncio.sleep(0)\n    seen.append(1)\ntask = None")
        self.good("async def start():\n    global task\n    task = asyncio.ensure_future(later())\nawait start()")
        self.good("await task; assert seen == [1]")

    def test_loops_of_user_code(self):
        self.good("import asyncio\nasync def f(): return 'run'")
        self.assertEqual(self.good("asyncio.run(f())").value, "'run'")
        self.assertEqual(self.good("asyncio.get_event_loop().run_until_complete(f())", self.fresh_with("import asyncio\nasync def f(): return 1")).value, "1")
        error = self.bad("await f()\nasyncio.run(f())", "RuntimeError")
        self.assertIn("asyncio.run() cannot be called from a running event loop", error["message"])
        self.alive()
        self.good("asyncio.run(f())")
        self.alive()

    def fresh_with(self, code):
        box = self.fresh()
        self.good(code, box)
        return box

    def test_a_closed_loop_is_replaced(self):
        box = self.fresh()
        self.good("import asyncio\nasync def loop(): return asyncio.get_running_loop()\nmine = await loop()", box)
        self.good("mine.close()", box)
        self.alive(box)

    def test_a_stopped_loop_is_an_error_and_works_again(self):
        error = self.bad("import asyncio\nasyncio.get_running_loop().stop()\nawait asyncio.sleep(3600)", "RuntimeError")
        self.assertIn("stopped", error["message"])
        self.alive()

    def test_many_cells_stay_bounded(self):
        box = self.fresh()
        for number in range(1100):
            box.run("x = %d" % number)
        count = int(box.run("import linecache; sum(1 for name in linecache.cache if name.startswith('<cell'))").value)
        self.assertLessEqual(count, 1000)
        self.assertGreater(count, 900)


class Exceptions(BoxCase):
    def test_tracebacks_show_user_lines_only(self):
        self.good("def f(x):\n    return 1 / x")
        for code in ("y = 1\nf(0)", "import asyncio\nawait asyncio.sleep(0)\nf(0)"):
            error = self.bad(code, "ZeroDivisionError")
            self.assertEqual(error["message"], "division by zero")
            lines = error["traceback"].splitlines()
            self.assertEqual(lines[0], "Traceback (most recent call last):")
            self.assertIn("    return 1 / x", error["traceback"])
            self.assertIn("    f(0)", error["traceback"])
            self.assertEqual([line.split(",")[0].split(" ")[3] for line in lines if line.startswith("  File")], ['"<cell'] * 2)
            self.assertEqual(lines[-1], "ZeroDivisionError: division by zero")
            self.assertNotIn("kennel", error["traceback"])

    def test_chains_and_groups_are_kept(self):
        text = self.bad("try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('second') from e")["traceback"]
        self.assertIn("ZeroDivisionError", text)
        self.assertIn("direct cause", text)
        self.assertIn("ValueError: second", text)
        self.assertNotIn("kennel", text)
        if "group" in self.good("'group' if hasattr(__builtins__, 'ExceptionGroup') else ''").value:
            code = """
import asyncio
async def fail(n): raise KeyError(n)
async with asyncio.TaskGroup() as group:
    for n in range(2): group.create_task(fail(n))
"""
            error = self.bad(code, "ExceptionGroup")
            self.assertIn("KeyError: 0", error["traceback"])
            self.assertIn("KeyError: 1", error["traceback"])
            self.assertNotIn("<kennel>", error["traceback"])

    def test_syntax_errors_have_a_caret(self):
        error = self.bad("x = 1\ny = = 2", "SyntaxError")
        self.assertTrue(error["traceback"].startswith('  File "<cell'), error)
        self.assertIn("    y = = 2\n", error["traceback"])
        self.assertIn("^", error["traceback"])
        self.bad("return 5", "SyntaxError")
        self.bad("  x = 1", "IndentationError")
        self.assertIn(self.box.run("x = '\0'").status, ("error",))

    def test_long_tracebacks_are_cut_in_the_middle(self):
        code = "def a(n): return b(n)\ndef b(n): return a(n)\na(1)"
        text = self.bad(code, "RecursionError")["traceback"]
        self.assertLessEqual(len(text), 16 * 1024)
        self.assertTrue(text.startswith("Traceback"))
        self.assertIn("RecursionError", text.splitlines()[-1])
        self.assertIn("characters left out", text)
        text = self.bad("raise ValueError('x' * 10 ** 6)")
        self.assertLessEqual(len(text["traceback"]), 16 * 1024)
        self.assertLessEqual(len(text["message"]), 4000)

    def test_exits(self):
        for code in ("import sys; sys.exit()", "import sys; sys.exit(0)", "exit()", "quit()", "raise SystemExit", "import sys; sys.exit(False)"):
            result = self.good("print('before')\n" + code + "\nprint('after')")
            self.assertEqual((result.out, result.exit), ("before\n", None))
        for code, exit, message in (("1", 1, "1"), ("3", 3, "3"), ("'text'", 1, "text"), ("1 << 80", 1, str(1 << 80)), ("-1", -1, "-1")):
            for form in ("import sys; sys.exit(%s)", "import sys, asyncio; await asyncio.sleep(0); sys.exit(%s)"):
                result = self.box.run(form % code)
                self.assertEqual((result.status, result.exit, result.error["message"]), ("error", exit, message))
        self.alive()

    def test_exit_in_a_background_task_ends_the_cell(self):
        result = self.box.run("import asyncio, sys\nasync def leave(): sys.exit(4)\nasyncio.ensure_future(leave())\nawait asyncio.sleep(3600)")
        self.assertEqual((result.status, result.exit), ("error", 4))
        self.alive()

    def test_strange_exceptions(self):
        self.bad("class E(BaseException): pass\nraise E('x')", "E")
        self.bad("raise KeyboardInterrupt", "KeyboardInterrupt")
        self.bad("raise GeneratorExit", "GeneratorExit")
        self.bad("raise StopIteration(1)", "StopIteration")
        self.bad("import asyncio\nraise asyncio.CancelledError", "CancelledError")
        self.bad("import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError", "CancelledError")
        self.bad("import asyncio\nasyncio.current_task().cancel()\nawait asyncio.sleep(3600)", "CancelledError")
        error = self.bad("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", "E")
        self.assertIn("str failed", error["message"])
        self.bad("class E(Exception):\n    __cause__ = property(lambda self: 1 / 0)\nraise E", "E")
        self.bad("e = ValueError()\ne.__context__ = e\nraise e", "ValueError")
        self.bad("import sys\nsys.setrecursionlimit(60)\ndef f(): f()\nf()", "RecursionError")
        self.alive()


if __name__ == "__main__":
    unittest.main()
