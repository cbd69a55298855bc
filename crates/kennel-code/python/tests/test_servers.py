"""Servers, their tools, results, errors and helpers as user code sees them."""
import unittest

from case import BoxCase
from harness import FS, TIME, text_result


def echo(message):
    return {"ok": {"content": [], "structuredContent": {"tool": message["tool"], "alias": message["alias"], "arguments": message["arguments"]}}}


class Servers(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.servers(FS, TIME)

    def given(self, code, **options):
        """The arguments that a call sends."""
        result = self.good(code, host=echo, **options)
        self.assertEqual(len(result.asks), 1)
        self.assertEqual(result.asks[0]["op"], "call_tool")
        return result.asks[0]["alias"], result.asks[0]["tool"], result.asks[0]["arguments"]

    def test_every_way_to_a_tool(self):
        expected = ("file_system", "read-file", {"path": "x"})
        for code in (
            "await mcp_file_system.read_file(path='x')",
            "await mcp_file_system.read_file('x')",
            "await mcp_file_system.read_file({'path': 'x'})",
            "mcp_file_system.read_file.sync('x')",
            "import mcp.runtime\nawait mcp.runtime.call_tool('file_system', 'read-file', {'path': 'x'})",
            "await mcp.runtime.call_tool('file system', 'read_file', {'path': 'x'})",
            "mcp.runtime.call_tool_sync('file_system', 'read_file', {'path': 'x'})",
            "from mcp.runtime import call_tool_sync\ncall_tool_sync('file_system', 'read_file', {'path': 'x'})",
            "from mcp.servers import file_system as fs\nawait fs.read_file('x')",
            "from mcp.servers.file_system import read_file\nawait read_file('x')",
            "import mcp.servers.file_system\nawait mcp.servers.file_system.read_file('x')",
            "from mcp.servers.file_system import *\nread_file.sync('x')",
            "import asyncio\nasyncio.run(mcp_file_system.read_file('x'))",
        ):
            self.assertEqual(self.given(code), expected, code)

    def test_only_given_arguments_are_sent(self):
        self.assertEqual(self.given("await mcp_file_system.read_file('x', head=None)")[2], {"path": "x"})
        self.assertEqual(self.given("await mcp_file_system.read_file('x', head=0, tail=None)")[2], {"path": "x", "head": 0, "tail": None})
        self.assertEqual(self.given("await mcp_file_system.put('a', {'b': 1})")[2], {"from": "a", "data": {"b": 1}})
        self.assertEqual(self.given("await mcp_file_system.put(from_='a', data={})")[2], {"from": "a", "data": {}})
        self.assertEqual(self.given("await mcp_file_system.odd(anything=1, b=[2])")[2], {"anything": 1, "b": [2]})
        self.assertEqual(self.given("await mcp_file_system.odd({'a-b': 1})")[2], {"a-b": 1})
        self.assertEqual(self.given("await mcp_time.now()")[2], {})
        self.assertEqual(self.given("await mcp.runtime.call_tool('time', 'now')")[2], {})

    def test_wrong_arguments_name_the_signature(self):
        for code in ("read_file()", "read_file('x', 3)", "read_file('x', pth=1)"):
            error = self.bad("await mcp_file_system." + code, "TypeError")
            self.assertIn("read_file(path: str, *, head: int | None = None, tail: int = 5) -> str", error["message"])

    def test_functions_describe_themselves(self):
        self.good(
            """
import inspect
f = mcp_file_system.read_file
assert inspect.iscoroutinefunction(f) and not inspect.iscoroutinefunction(f.sync)
assert str(inspect.signature(f)) == "(path: str, *, head: int | None = None, tail: int = 5) -> str", inspect.signature(f)
assert str(inspect.signature(f.sync)) == str(inspect.signature(f))
assert inspect.signature(f).parameters["path"].annotation is str
assert str(inspect.signature(mcp_file_system.odd)) == "(**arguments)"
assert (f.__name__, f.__qualname__, f.__module__) == ("read_file", "read_file", "mcp.servers.file_system")
assert f.__doc__ == "Reads a file.\\n\\nWhole."
assert f is mcp_file_system.read_file is mcp.servers.file_system.read_file
assert "read_file" in dir(mcp_file_system) and "file_system" in dir(mcp.servers)
import pickle
assert pickle.loads(pickle.dumps(f)) is f
help(f); help(mcp_file_system)
"""
        )

    def test_unknown_names_suggest_the_nearest(self):
        self.assertIn("did you mean read_file?", self.bad("mcp_file_system.readfile", "AttributeError")["message"])
        self.assertIn("did you mean file_system?", self.bad("mcp.servers.filesystem", "AttributeError")["message"])
        self.assertIn("did you mean read_file?", self.bad("await mcp.runtime.call_tool('file_system', 'read_fil')", "MCPError")["message"])
        self.assertIn("did you mean time?", self.bad("mcp.runtime.list_tools_sync('tim')", "MCPError")["message"])
        self.bad("from mcp.servers import nothing", "ImportError")
        self.bad("import mcp.servers.nothing", "ModuleNotFoundError")
        self.bad("saved.nothing", "AttributeError")

    def test_a_cell_uses_only_its_servers(self):
        for code in ("await mcp_time.now()", "mcp_time.now.sync()", "mcp.runtime.call_tool_sync('time', 'now')", "mcp.runtime.search_tool_docs_sync('x', server='time')"):
            result = self.box.run("try:\n    %s\nexcept MCPError as e:\n    print(e.kind, e)" % code, servers=["file_system"])
            self.assertTrue(result.out.startswith("refused"), result)
            self.assertIn("`servers`", result.out)
            self.assertEqual(result.asks, [])
        self.assertEqual(self.good("mcp.runtime.list_servers_sync()", servers=["time"]).value, "['time']")
        self.assertEqual(self.given("mcp_time.now.sync()", servers=["time"])[0], "time")
        self.assertEqual(self.given("mcp_time.now.sync()")[0], "time")

    def test_servers_named_later_are_there_later(self):
        box = self.fresh()
        self.bad("mcp_time", "NameError", box)
        self.bad("from mcp.servers import time", "ImportError", box)
        box.servers(TIME)
        self.assertEqual(box.run("from mcp.servers import time as t\nmcp_time.now.sync().tool", host=echo).value, "'now'")
        more = dict(TIME, tools=TIME["tools"] + [{"name": "zone", "python": "zone", "doc": "", "signature": "(name: str)"}])
        box.servers(more, FS)
        self.assertEqual(box.run("t.zone.sync('x').tool", host=echo).value, "'zone'")
        self.assertEqual(box.run("assert t is mcp_time\nmcp_file_system.odd.sync().tool", host=echo).value, "'odd'")
        box.servers(FS)
        self.bad("mcp_time", "NameError", box)
        self.bad("import mcp.servers.time", "ModuleNotFoundError", box)
        self.bad("t.now", "AttributeError", box)
        self.assertEqual(box.run("mcp.runtime.list_servers_sync()").value, "['file_system']")

    def test_helpers(self):
        self.good(
            """
r = mcp.runtime
assert await r.list_servers() == r.list_servers_sync() == ['file_system', 'time']
assert r.discovered_servers_sync() == ['file_system', 'time']
assert r.discovered_servers_sync(detailed=True)[0].tools == ['read_file', 'put', 'odd']
tools = await r.list_tools('file system')
assert tools[0].python == 'read_file' and tools[0].name == 'read-file' and tools[0].read_only and tools[0].description == 'Reads a file.'
assert r.describe_server_sync('file_system').name == 'file system'
import inspect
assert str(inspect.signature(r.search_tool_docs)) == "(query, limit=5, server=None)"
"""
        )
        result = self.good("await mcp.runtime.query_tool_docs('file_system', 'read_file')", host=lambda message: {"ok": "the docs"})
        self.assertEqual(result.value, "'the docs'")
        self.assertEqual((result.asks[0]["op"], result.asks[0]["alias"], result.asks[0]["tools"]), ("describe_tools", "file_system", ["read-file"]))
        result = self.good("mcp.runtime.search_tool_docs_sync('files', limit=2)", host=lambda message: {"ok": []}, servers=["time"])
        self.assertEqual((result.asks[0]["op"], result.asks[0]["query"], result.asks[0]["limit"], result.asks[0]["servers"]), ("search_tools", "files", 2, ["time"]))

    def test_the_manual_is_short_and_complete(self):
        box = self.fresh()
        box.servers(*[dict(TIME, name="s%d" % n, alias="a_long_alias_%d" % n) for n in range(300)])
        text = eval(box.run("mcp.runtime.capability_summary_sync()").value)
        self.assertLessEqual(len(text), 1500)
        self.assertRegex(text, r"and \d+ more")
        names = eval(box.run("[n for n in dir(mcp.runtime) if not n.startswith('_') and not n.endswith('_sync') and callable(getattr(mcp.runtime, n))]").value)
        self.assertGreater(len(names), 10)
        for name in names:
            if name != "Record":
                self.assertIn(name, text)
        for word in ("MCPError", "gather", "left over", "saved."):
            self.assertIn(word, text)


class Results(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.servers(FS)

    def value(self, result, show="r"):
        return self.good("r = mcp_file_system.odd.sync()\n" + show, host=lambda message: {"ok": result}).value

    def text(self, *texts):
        return {"content": [{"type": "text", "text": text} for text in texts]}

    def test_every_form(self):
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        for result, expected in (
            (dict(self.text("ignored"), structuredContent={"a": {"b": [1]}}), {"a": {"b": [1]}}),
            (dict(self.text("5"), structuredContent=None), "5"),
            (self.text('{"a": 1}'), {"a": 1}),
            (self.text(' [1, {"b": 2}]\n'), [1, {"b": 2}]),
            (self.text("[not json"), "[not json"),
            (self.text("[1] and more"), "[1] and more"),
            (self.text("5"), "5"),
            (self.text('"quoted"'), '"quoted"'),
            (self.text(""), ""),
            (self.text("a", '{"b": 1}'), ["a", '{"b": 1}']),
            ({"content": [{"type": "text", "text": "a"}, image]}, ["a", image]),
            ({"content": [image]}, image),
            (self.text("[" * 100000), "[" * 100000),
        ):
            self.assertEqual(eval(self.value(result, "r if len(str(r)) < 1000 else r[:5]")), expected if len(str(expected)) < 1000 else expected[:5])
        self.assertIsNone(self.value({"content": []}))
        self.assertIsNone(self.value({}))

    def test_dicts_have_attributes(self):
        result = {"structuredContent": {"a": {"b": [{"c": 5}]}, "items": [1]}}
        self.assertEqual(self.value(result, "r.a.b[0].c, r['items'], callable(r.items), r == {'a': {'b': [{'c': 5}]}, 'items': [1]}"), "(5, [1], True, True)")
        self.assertEqual(self.value(result, "import pickle, copy, json\n[pickle.loads(pickle.dumps(r)).a.b, copy.deepcopy(r).a.b, json.loads(json.dumps(r))['a']['b']]"), str([[{"c": 5}]] * 3))
        error = self.bad("r.aa", "AttributeError")
        self.assertIn("did you mean a?", error["message"] + "did you mean a?" if "there are" in error["message"] else error["message"])
        self.assertEqual(self.good("getattr(r, 'none', 1), hasattr(r, 'a')").value, "(1, True)")

    def test_errors_of_tools(self):
        failing = dict(self.text("no such", "file"), isError=True)
        code = "try:\n    %s\nexcept MCPError as e:\n    print((e.kind, e.message, e.code, len(e.content), e.server, e.tool)); print(e)"
        for call in ("await mcp_file_system.odd()", "mcp_file_system.odd.sync()"):
            result = self.good(code % call, host=lambda message: {"ok": failing})
            self.assertEqual(result.out, "('tool', 'no such\\nfile', None, 2, 'file_system', 'odd')\nfile_system.odd: no such\nfile\n")
            error = self.bad("def f(): pass\n" + call, "MCPError", host=lambda message: {"ok": failing})
            self.assertIn("no such\nfile", error["message"])
            self.assertNotIn("<kennel>", error["traceback"])
            self.assertEqual(error["traceback"].count("  File"), 1)
            for raising in ("raise ValueError('second')", "raise ValueError('second') from error"):
                error = self.bad("try:\n    %s\nexcept MCPError as error:\n    %s" % (call, raising), "ValueError", host=lambda message: {"ok": failing})
                self.assertEqual(error["traceback"].count("  File"), 2, error)

    def test_errors_of_the_protocol(self):
        refusal = {"error": {"kind": "protocol", "message": "bad params", "code": -32602, "data": {"why": [1]}}}
        code = "try:\n    await mcp_file_system.odd()\nexcept MCPError as e:\n    import pickle\n    e = pickle.loads(pickle.dumps(e))\n    print((e.kind, e.message, e.code, e.data.why, e.tool)); print(e); print(repr(e))"
        result = self.good(code, host=lambda message: refusal)
        self.assertEqual(
            result.out,
            "('protocol', 'bad params', -32602, [1], 'odd')\nfile_system.odd: bad params (code -32602)\n"
            "MCPError('file_system.odd: bad params (code -32602)', kind='protocol')\n",
        )
        self.assertEqual(self.good("import asyncio\nr = await asyncio.gather(mcp_file_system.odd(), return_exceptions=True)\nr[0].kind", host=lambda message: {"error": {"kind": "limit", "message": "x"}}).value, "'limit'")


class Saved(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.send(self.box.token, {"t": "saved", "tools": [{"name": "total", "source": "def total(a, b=2):\n    return a + b\n"}, {"name": "broken", "source": "def ("}]})
        self.box.servers(FS)

    def test_saved_tools_are_there(self):
        self.assertEqual(self.good("saved.total(1)").value, "3")
        self.assertEqual(self.good("saved").value, "<saved tools: total, broken>")
        self.assertIn("b=2", self.good("import inspect; inspect.getsource(saved.total)").value)
        self.bad("saved.broken", "SyntaxError")
        self.assertEqual(self.good("saved.total(2)").value, "4")

    def test_saving(self):
        code = '''
def helper(path):
    """Reads.

    More."""
    import json
    def inner(x): return inner
    return [json.dumps(i) for i in (mcp, MCPError, saved, mcp_file_system)] + [helper, len(path)]
r = await mcp.runtime.save_tool(helper)
'''
        result = self.good(code, host=lambda message: {"ok": True})
        asked = result.asks[0]
        self.assertEqual((asked["op"], asked["name"], asked["description"]), ("save_tool", "helper", "Reads."))
        self.assertTrue(asked["source"].startswith("def helper(path):") and asked["source"].endswith("[helper, len(path)]\n"))
        self.assertEqual(result.err, "")
        self.assertEqual(self.good("r.name, r.outer_names, saved.helper is not helper, saved.total(1)").value, "('helper', [], True, 3)")
        result = self.good("mcp.runtime.save_tool_sync('async def two(): return await mcp_file_system.odd()', name='three', description='d')", host=lambda message: {"ok": True})
        self.assertEqual((result.asks[0]["name"], result.asks[0]["description"]), ("three", "d"))
        self.assertEqual(self.good("await saved.three()", host=lambda message: text_result("x")).value, "'x'")

    def test_names_from_outside_are_warned_of(self):
        code = "import math\nlimit = 5\ndef f(x=limit):\n    def g(): return other(x)\n    return math.sqrt(x) + g()\nmcp.runtime.save_tool_sync(f).outer_names"
        result = self.good(code, host=lambda message: {"ok": True})
        self.assertEqual(result.value, "['limit', 'math', 'other']")
        self.assertIn("limit, math, other", result.err)

    def test_what_cannot_be_saved(self):
        for code, kind, text in (
            ("def outer(n):\n    def inner(): return n\n    return inner\nmcp.runtime.save_tool_sync(outer(1))", "ValueError", "pass them as arguments"),
            ("mcp.runtime.save_tool_sync('x = 1')", "ValueError", "exactly one"),
            ("mcp.runtime.save_tool_sync('def a(): pass\\ndef b(): pass')", "ValueError", "exactly one"),
            ("f = lambda: 1\nmcp.runtime.save_tool_sync(f)", "ValueError", "exactly one"),
            ("mcp.runtime.save_tool_sync('def a(:')", "SyntaxError", ""),
            ("mcp.runtime.save_tool_sync('def a():\\n    \"' + 'x' * 40000 + '\"')", "ValueError", "32768"),
            ("mcp.runtime.save_tool_sync(len)", "TypeError", "not builtin"),
            ("mcp.runtime.save_tool_sync('def a(): pass', name='a b')", "ValueError", "'a b'"),
            ("ns = {}\nexec('def hidden(): pass', ns)\nmcp.runtime.save_tool_sync(ns['hidden'])", "ValueError", "not known"),
        ):
            result = self.box.run(code)
            self.assertEqual((result.status, result.error and result.error["type"], result.asks), ("error", kind, []), result)
            self.assertIn(text, result.error["message"])

    def test_a_refusal_of_the_host_saves_nothing(self):
        self.bad("mcp.runtime.save_tool_sync('def nope(): pass')", "MCPError", host=lambda message: {"error": {"kind": "limit", "message": "full"}})
        self.bad("saved.nope", "AttributeError")

    def test_removing_and_listing(self):
        result = self.good("await mcp.runtime.remove_tool('total')", host=lambda message: {"ok": None})
        self.assertEqual((result.asks[0]["op"], result.asks[0]["name"]), ("remove_tool", "total"))
        self.bad("saved.total", "AttributeError")
        self.assertEqual(self.good("mcp.runtime.list_saved_tools_sync()", host=lambda message: {"ok": [{"name": "x"}]}).value, "[{'name': 'x'}]")


if __name__ == "__main__":
    unittest.main()
