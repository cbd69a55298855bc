# Saved tools: functions that the host keeps for later notebooks.


class Saved:
    sources = {}
    # What their code sees as globals: the same names for all, in a namespace of its own for each.
    loaded = []
    namespace = {"__name__": "mcp.saved", "__builtins__": sys_modules["builtins"].__dict__}


class SavedTools(ModuleType):
    """The saved tools, by name; each is compiled when it is first used."""

    def __getattr__(self, name):
        tool = Saved.sources.get(name)
        if tool is None:
            if name.startswith("__"):
                raise AttributeError("module 'mcp.saved' has no attribute %r" % name)
            raise AttributeError("there is no saved tool %r; %s" % (name, nearest(name, list(Saved.sources))))
        function = load_saved(name, tool["source"])
        self.__dict__[name] = function
        return function

    def __dir__(self):
        return sorted({*self.__dict__, *Saved.sources})

    def __repr__(self):
        return "<saved tools: %s>" % (", ".join(Saved.sources) or "none")


saved_module = SavedTools("mcp.saved", "Functions kept by save_tool.")


def set_saved(tools):
    for name in Saved.sources:
        saved_module.__dict__.pop(name, None)
    Saved.sources = {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str) and isinstance(tool.get("source"), str)}
    Saved.loaded = []
    saved_module.__all__ = list(Saved.sources)


def load_saved(name, source):
    filename = "<saved %s>" % name
    definition = read_definition(source)
    remember_source(filename, source)
    namespace = dict(Saved.namespace)
    Saved.loaded.append(namespace)
    exec(compile(source, filename, "exec", 0, True), namespace)
    return namespace[definition.name]


def set_saved_names(names):
    """Replaces the servers that saved tools see."""
    for namespace in (Saved.namespace, *Saved.loaded):
        for name in [name for name in namespace if name.startswith("mcp_")]:
            del namespace[name]
        namespace.update(names)


def read_definition(source):
    """The one function that the source defines."""
    if len(source.encode("utf-8", "replace")) > SAVED_LIMIT:
        raise ValueError("the source of a saved tool may have at most %d bytes" % SAVED_LIMIT)
    body = compile(source, "<saved>", "exec", ast.PyCF_ONLY_AST, True).body
    if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise ValueError("a saved tool is exactly one `def` or `async def`, with its imports inside")
    return body[0]


def outer_names(source, own):
    """The global names that the source uses and that are not there in every notebook."""
    builtin = sys_modules["builtins"].__dict__
    found = set()

    def collect(table, top):
        for symbol in table.get_symbols():
            name = symbol.get_name()
            outer = symbol.is_global() or (top and not symbol.is_assigned() and not symbol.is_imported())
            if outer and symbol.is_referenced():
                found.add(name)
        for child in table.get_children():
            collect(child, False)

    collect(symtable.symtable(source, "<saved>", "exec"), True)
    known = {own, "mcp", "MCPError", "saved"}
    return sorted(name for name in found if name not in builtin and name not in known and not name.startswith("mcp_"))


def prepare_saved(function, name, description):
    """The fields of a save_tool ask; raises ValueError or TypeError that says what to change."""
    if isinstance(function, str):
        source = function
    elif isinstance(function, types.FunctionType):
        free = function.__code__.co_freevars
        if free:
            raise ValueError("%s uses variables of the function around it (%s): pass them as arguments" % (function.__name__, ", ".join(free)))
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            source = ""
        if "def " + inspect.unwrap(function).__code__.co_name not in source and function.__name__ != "<lambda>":
            raise ValueError("the source of %s is not known: pass it as a string" % function.__name__)
    else:
        raise TypeError("save_tool takes a function or its source, not %s" % type(function).__name__)
    source = textwrap.dedent(source).strip("\n") + "\n"
    definition = read_definition(source)
    name = definition.name if name is None else name
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        raise ValueError("%r cannot be the name of a saved tool: it must be a Python name" % (name,))
    outer = outer_names(source, definition.name)
    if description is None:
        description = (ast.get_docstring(definition) or "").split("\n")[0]
    return {"name": name, "source": source, "description": str(description)}, outer
