# The module mcp.runtime: helpers, each async and, with the ending _sync, blocking.
mcp_module = ModuleType("mcp", "The MCP servers (mcp.servers) and helpers (mcp.runtime) of this notebook.")
mcp_module.__path__ = []
runtime_module = ModuleType("mcp.runtime", "Helpers; await mcp.runtime.capability_summary() is their manual.")


def helper(function):
    """Puts both forms of a helper into mcp.runtime. A generator yields asks; a plain function needs no host."""
    name = function.__name__

    if inspect.isgeneratorfunction(function):

        async def asynchronous(*args, **kwargs):
            return await drive(function(*args, **kwargs))

        def synchronous(*args, **kwargs):
            return drive_sync(function(*args, **kwargs))

    else:

        async def asynchronous(*args, **kwargs):
            return function(*args, **kwargs)

        def synchronous(*args, **kwargs):
            return function(*args, **kwargs)

    for made, made_name in ((asynchronous, name), (synchronous, name + "_sync")):
        made.__name__ = made.__qualname__ = made_name
        made.__module__ = "mcp.runtime"
        made.__doc__ = function.__doc__
        made.__signature__ = Signature.from_callable(function)
        setattr(runtime_module, made_name, made)
    return function


def usable():
    """The servers that this cell may use."""
    return {alias: module for alias, module in Known.servers.items() if Known.allowed is None or alias in Known.allowed}


def first_line(text):
    return (text or "").strip().split("\n")[0]


@helper
def list_servers():
    """The aliases of the servers that this cell may use."""
    return list(usable())


@helper
def discovered_servers(detailed=False):
    """The aliases of the servers, or with detailed=True their names, descriptions and tools."""
    return [describe_server(alias) for alias in usable()] if detailed else list(usable())


@helper
def list_tools(alias):
    """The tools of a server: python (its name here), name, signature, description, read_only."""
    return [
        Record(
            python=python,
            name=tool["name"],
            signature=tool.get("signature") or "(**arguments)",
            description=first_line(tool.get("doc")),
            read_only=bool(tool.get("read_only")),
        )
        for python, tool in find_server(alias).__kennel__["by_python"].items()
    ]


@helper
def describe_server(alias):
    """The alias, name, description and tools (their Python names) of a server."""
    known = find_server(alias).__kennel__
    return Record(alias=known["alias"], name=known["name"], description=known["description"], tools=list(known["by_python"]))


@helper
def query_tool_docs(alias, tool=None):
    """The full documentation of a server's tool, or of all its tools, as text."""
    module = find_server(alias)
    tools = None if tool is None else [find_tool(module, tool)]
    return (yield "describe_tools", {"alias": module.__kennel__["alias"], "tools": tools})


@helper
def search_tool_docs(query, limit=5, server=None):
    """Finds tools by what they do, best first."""
    if server is None:
        servers = None if Known.allowed is None else sorted(Known.allowed)
    else:
        servers = [find_server(server).__kennel__["alias"]]
        check_allowed(servers[0])
    return (yield "search_tools", {"query": query, "limit": limit, "servers": servers, "detail": "signatures"})


@helper
def call_tool(alias, tool, arguments=None):
    """Calls a tool by name with a dict of arguments; the alias may be the server's name too."""
    module = find_server(alias)
    arguments = {} if arguments is None else dict(arguments)
    return (yield from call_server(module.__kennel__["alias"], find_tool(module, tool), arguments))


@helper
def save_tool(func, name=None, description=None):
    """Keeps a function (or its source) for later notebooks, where it is saved.<name>. Imports belong inside of it."""
    fields, outer = prepare_saved(func, name, description)
    if outer:
        warnings.warn(
            "the saved tool %s uses names that later notebooks may not have: %s" % (fields["name"], ", ".join(outer)),
            stacklevel=4,
        )
    yield "save_tool", fields
    set_saved([*(tool for tool in Saved.sources.values() if tool["name"] != fields["name"]), fields])
    return Record(name=fields["name"], bytes=len(fields["source"].encode("utf-8")), outer_names=outer)


@helper
def remove_tool(name):
    """Removes a saved tool."""
    done = yield "remove_tool", {"name": name}
    set_saved([tool for tool in Saved.sources.values() if tool["name"] != name])
    return done


@helper
def list_saved_tools():
    """The saved tools that the host keeps."""
    return (yield "list_saved", {})


@helper
def capability_summary():
    """A short manual of this notebook."""
    manual = (
        "Python with top-level await; variables stay between cells; the last expression is shown and kept in _.\n"
        "Tools: await mcp_<alias>.<tool>(…), or `from mcp.servers.<alias> import <tool>`; .sync(…) blocks. help(tool) has its docs.\n"
        "Results are Python objects (dicts have attributes). A failed call raises MCPError (.message .kind .code .data .content).\n"
        "asyncio.gather runs calls in parallel. Tasks left over go on only while a later cell awaits; calls end with their cell.\n"
        "mcp.runtime (await it, or use the ending _sync): list_servers(), discovered_servers(detailed=False), list_tools(alias),\n"
        "describe_server(alias), query_tool_docs(alias, tool=None), search_tool_docs(query, limit=5, server=None),\n"
        "call_tool(alias, tool, arguments), save_tool(func, name=None, description=None), remove_tool(name), list_saved_tools(),\n"
        "capability_summary(). Saved tools are saved.<name>%s.\n" % (": " + short_list(Saved.sources, 120) if Saved.sources else "")
    )
    names = ["%s (%d tools)" % (alias, len(module.__all__)) for alias, module in usable().items()]
    head = "Servers: " if names else "No servers."
    return manual + head + short_list(names, SUMMARY_LIMIT - len(manual) - len(head))


def short_list(names, room):
    """As many names as fit, and how many more there are."""
    names, text = list(names), ""
    for position, name in enumerate(names):
        more = ", and %d more" % (len(names) - position)
        if len(text) + len(name) + 2 + len(more) > room:
            return text + (more if text else "%d of them" % len(names))
        text += (", " if text else "") + name
    return text


mcp_module.servers, mcp_module.runtime, mcp_module.saved = servers_module, runtime_module, saved_module
for exported in (MCPError, Record):
    setattr(mcp_module, exported.__name__, exported)
    setattr(runtime_module, exported.__name__, exported)
runtime_module.__all__ = [name for name in vars(runtime_module) if not name.startswith("__")]
for module in (mcp_module, servers_module, runtime_module, saved_module):
    sys_modules[module.__name__] = module
Saved.namespace.update(mcp=mcp_module, MCPError=MCPError, saved=saved_module)
