# The modules mcp.servers.*, one for each server, whose tools are functions.


class Known:
    """What the host has said of servers: by alias, in its order."""

    servers = {}
    # The aliases that the running cell may use; None for all.
    allowed = None


class Server(ModuleType):
    """The tools of one server as async functions; each has a form `.sync(…)` that blocks."""

    def __init__(self, alias):
        super().__init__("mcp.servers." + alias)
        self.__dict__["__path__"] = []
        set_server(self, {"name": alias, "alias": alias, "tools": []})

    def __getattr__(self, name):
        tool = self.__dict__["__kennel__"]["by_python"].get(name)
        if tool is None:
            alias = self.__dict__["__kennel__"]["alias"]
            if name.startswith("__"):
                raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
            raise AttributeError("server %s has no tool %r; %s" % (alias, name, nearest(name, list(self.__kennel__["by_python"]))))
        function = make_tool(self.__dict__["__kennel__"]["alias"], tool)
        self.__dict__[name] = function
        return function

    def __dir__(self):
        return sorted({*self.__dict__, *self.__kennel__["by_python"]})

    def __repr__(self):
        return "<server %s: %d tools>" % (self.__kennel__["alias"], len(self.__kennel__["by_python"]))


def set_server(module, server):
    """Replaces what the module knows; functions made before stay callable where user code holds them."""
    known = module.__dict__.get("__kennel__")
    for name in known["by_python"] if known else ():
        module.__dict__.pop(name, None)
    tools = [tool for tool in server.get("tools") or [] if isinstance(tool, dict) and "name" in tool]
    alias = server["alias"]
    module.__dict__["__kennel__"] = {
        "alias": alias,
        "name": server.get("name", alias),
        "description": server.get("description") or "",
        "by_python": {tool.get("python", tool["name"]): tool for tool in tools},
    }
    module.__dict__["__all__"] = list(module.__kennel__["by_python"])
    module.__dict__["__doc__"] = "%s\n\nTools: %s" % (server.get("description") or server.get("name", alias), ", ".join(module.__all__))


def make_tool(alias, tool):
    """The async function of a tool, with its `.sync`. Their frames are the runtime's, so tracebacks begin in user code."""
    wire_name, name, names = tool["name"], tool.get("python", tool["name"]), tool.get("names") or {}
    signature = read_signature(tool.get("signature") or "(**arguments)")

    async def function(*args, **kwargs):
        return await drive(call_server(alias, wire_name, read_arguments(name, signature, names, args, kwargs)))

    def sync(*args, **kwargs):
        return drive_sync(call_server(alias, wire_name, read_arguments(name, signature, names, args, kwargs)))

    for made, suffix in ((function, ""), (sync, ".sync")):
        made.__name__ = name
        made.__qualname__ = name + suffix
        made.__module__ = "mcp.servers." + alias
        made.__doc__ = tool.get("doc") or "The tool %s of the server %s." % (wire_name, alias)
        made.__signature__ = signature
    function.sync = sync
    return function


def check_allowed(alias):
    if Known.allowed is not None and alias not in Known.allowed and os_getpid() == MAIN_PID:
        raise refused("this cell may not use the server %s: name it in the argument `servers` of run_python" % alias, server=alias)


def call_server(alias, tool, arguments):
    """Calls a tool, as steps for `drive` or `drive_sync`."""
    check_allowed(alias)
    try:
        result = yield "call_tool", {"alias": alias, "tool": tool, "arguments": arguments}
    except MCPError as error:
        error.server, error.tool = alias, tool
        raise
    return read_result(result, alias, tool)


def find_server(name):
    """The module of the server with this alias or name."""
    module = Known.servers.get(name)
    if module is None:
        module = next((module for module in Known.servers.values() if module.__kennel__["name"] == name), None)
    if module is None:
        raise refused("there is no server %r; %s" % (name, nearest(str(name), list(Known.servers))))
    return module


def find_tool(module, name):
    """The wire name of a tool, given that or its Python name. Of a server whose tools are not known every name is good."""
    tools = module.__kennel__["by_python"]
    if name in tools:
        return tools[name]["name"]
    if not tools or any(tool["name"] == name for tool in tools.values()):
        return name
    alias = module.__kennel__["alias"]
    raise refused("it has no tool %r; %s" % (name, nearest(str(name), list(tools))), server=alias)


class Servers(ModuleType):
    """The servers, by alias."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError("module 'mcp.servers' has no attribute %r" % name)
        raise AttributeError("there is no server %r; %s" % (name, nearest(name, list(Known.servers))))


servers_module = Servers("mcp.servers", "The MCP servers, each a module of async functions.")
servers_module.__path__ = []


def set_servers(servers):
    """Replaces all that is known of servers, in the modules and in the notebook's namespace."""
    namespace = Notebook.namespace
    before, Known.servers = Known.servers, {}
    for server in servers:
        alias = server.get("alias")
        if not isinstance(alias, str) or not alias.isidentifier():
            continue
        module = before.pop(alias, None) or Server(alias)
        set_server(module, server)
        Known.servers[alias] = module
        servers_module.__dict__[alias] = module
        sys_modules[module.__name__] = module
        namespace["mcp_" + alias] = module
    for alias, module in before.items():
        set_server(module, {"alias": alias, "description": "This server is gone."})
        servers_module.__dict__.pop(alias, None)
        sys_modules.pop(module.__name__, None)
        if namespace.get("mcp_" + alias) is module:
            del namespace["mcp_" + alias]
    servers_module.__all__ = list(Known.servers)
    set_saved_names({"mcp_" + alias: module for alias, module in Known.servers.items()})
