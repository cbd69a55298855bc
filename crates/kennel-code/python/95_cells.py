# Cells: compiled, run in the notebook's namespace, and told about.
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
COROUTINE = inspect.CO_COROUTINE


class Notebook:
    namespace = sys_modules["__main__"].__dict__
    loop = None
    loop_parts = ()
    # Loops whose descriptors user code took away. They are kept, since closing them would close what has these numbers now.
    broken = []
    # The task of the cell that runs, where it awaits.
    task = None
    sources = deque()
    # The cell that defined a class last, by the class's name.
    classes = {}
    recursion = sys.getrecursionlimit()


def start_namespace():
    namespace = Notebook.namespace
    namespace.clear()
    sys.argv[:] = [""]
    namespace.update(
        __name__="__main__", __doc__=None, __package__=None, __loader__=None, __spec__=None, __builtins__=sys_modules["builtins"]
    )
    namespace.update(mcp=mcp_module, MCPError=MCPError, saved=saved_module)
    real_getfile = inspect.getfile

    def getfile(object):
        """inspect.getfile that knows the classes of cells too."""
        if isinstance(object, type) and object.__module__ == "__main__":
            found = Notebook.classes.get(object.__qualname__.partition(".")[0])
            if found is not None:
                return found
        return real_getfile(object)

    inspect.getfile = getfile
    # CPython 3.13 knows the text of -c by this name, which all code from exec has.
    linecache.cache.pop("<string>", None)


def loop_identity(loop):
    """What the loop's descriptors are, to see whether they still are."""
    try:
        return [identity(part.fileno()) for part in (loop._selector, loop._ssock, loop._csock)]
    except (AttributeError, ValueError, OSError):
        return None


def healthy_loop():
    """The notebook's loop, or a new one where user code has closed it or taken its descriptors."""
    loop = Notebook.loop
    if loop is None or loop.is_closed() or loop_identity(loop) != Notebook.loop_parts:
        if loop is not None:
            Notebook.broken.append(loop)
        loop = Notebook.loop = new_event_loop()
        Notebook.loop_parts = loop_identity(loop)
        loop.set_exception_handler(on_loop_failure)
        loop.add_reader(CHANNEL_FD, on_readable)
    return loop


def offer_loop(loop):
    """Makes asyncio.get_event_loop() give the notebook's loop, which asyncio.run of user code takes away."""
    try:
        set_event_loop(loop)
    except Exception:
        pass


def on_loop_failure(loop, context):
    """Tasks that ended their cell by exit or interrupt were told of there."""
    if not isinstance(context.get("exception"), (SystemExit, KeyboardInterrupt)):
        loop.default_exception_handler(context)


def remember_source(filename, source):
    """Makes the source known to tracebacks and inspect."""
    try:
        if len(Notebook.sources) >= SOURCE_LIMIT:
            linecache.cache.pop(Notebook.sources.popleft(), None)
        Notebook.sources.append(filename)
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    except (AttributeError, TypeError):
        # User code has put something else there.
        pass


def compile_cell(source, filename):
    """The code of all but the last expression, and of the last expression; either may be None."""
    remember_source(filename, source)
    if len(source) < 200 and "\n" not in source and not source.startswith((" ", "\t")):
        # Most lines alone are an expression, and those need no tree.
        try:
            return None, compile(source, filename, "eval", AWAIT, True)
        except SyntaxError:
            pass
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST | AWAIT, True)
    body = tree.body
    for statement in body:
        if type(statement) is ast.ClassDef:
            Notebook.classes[statement.name] = filename
    last = None
    if body and type(body[-1]) is ast.Expr:
        last = compile(ast.Expression(body.pop().value), filename, "eval", AWAIT, True)
    return compile(tree, filename, "exec", AWAIT, True) if body else None, last


def run_sync(body, last):
    namespace = Notebook.namespace
    if body is not None:
        eval(body, namespace)
    if last is not None:
        return eval(last, namespace)


async def run_steps(body, last):
    """The cell as a coroutine that never fails: (value, exception)."""
    namespace = Notebook.namespace
    value = None
    try:
        for code in (body, last):
            if code is not None:
                value = eval(code, namespace)
                if code.co_flags & COROUTINE:
                    value = await value
        return value if last is not None else None, None
    except BaseException as failure:
        return None, failure


def run_async(body, last):
    """Runs the cell as a task of the notebook's loop."""
    loop = healthy_loop()
    offer_loop(loop)
    Notebook.task = task = loop.create_task(run_steps(body, last))
    stopped = None
    for _ in range(RERUN_LIMIT):
        try:
            loop.run_until_complete(task)
            break
        except BaseException as failure:
            # Something else in the loop has ended it: an interrupted or exiting task, loop.stop(), lost descriptors.
            if task.done():
                break
            stopped = stopped or failure
            task.cancel()
    Notebook.task = None
    if not task.done():
        Notebook.loop_parts = ()
        raise stopped
    if task.cancelled():
        raise stopped or CancelledError()
    value, failure = task.result()
    if stopped is not None or failure is not None:
        raise stopped or failure
    return value


BOTTOM.update(function.__code__ for function in (run_sync, run_async, show, tell, flush_user))


def exit_code(failure):
    """The number that the process would have ended with."""
    code = failure.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) if -(1 << 31) <= code < 1 << 31 else 1
    return 1


def tell_failure(failure):
    """The fields of `end` for an exception."""
    if isinstance(failure, SystemExit):
        code = exit_code(failure)
        if code == 0:
            return {"status": "success"}
        told = {"status": "error", "exit": code, "error": tell(failure)}
        return told
    ended = Interrupts.came and isinstance(failure, (KeyboardInterrupt, CancelledError))
    return {"status": "interrupted" if ended else "error", "error": tell(failure)}


def run_code(source, filename):
    """Runs the source; the fields of `end`."""
    try:
        body, last = compile_cell(source, filename)
        check_interrupt()
        if any(code is not None and code.co_flags & COROUTINE for code in (body, last)):
            value = run_async(body, last)
        else:
            offer_loop(healthy_loop() if Notebook.loop.is_closed() else Notebook.loop)
            value = run_sync(body, last)
        if value is None:
            return {"status": "success"}
        Notebook.namespace["_"] = value
        return {"status": "success", "value": show(value)}
    except BaseException as failure:
        return tell_failure(failure)


def run_guarded(source, filename):
    """run_code, and what it did not foresee: exceptions out of telling of exceptions."""
    try:
        return run_code(source, filename)
    except BaseException as failure:
        failed = failure
    try:
        # What it came from is what could not be told.
        failed.__context__ = failed.__cause__ = None
        return tell_failure(failed)
    except BaseException:
        ended = Interrupts.came and type(failed) is KeyboardInterrupt
        error = {"type": type(failed).__name__, "message": "", "traceback": type(failed).__name__}
        return {"status": "interrupted" if ended else "error", "error": error}


def run_cell(token, message):
    """Runs one cell and tells the host of its end, exactly once."""
    Tokens.cell = token
    name = str(message.get("cell"))
    allowed = message.get("servers")
    Known.allowed = None if allowed is None else frozenset(allowed)
    arm_interrupts()
    told = run_guarded(message.get("code", ""), "<cell %s>" % name)
    try:
        flush_user()
    except BaseException:
        pass
    Interrupts.armed = False
    if os_getpid() != MAIN_PID:
        end_child(told)
    Tokens.cell = None
    abandon_all()
    Known.allowed = None
    flush_own()
    told.update(t="end", cell=name, marks=write_marks(token))
    send_body(token, encode_json(told))
    restore()


def restore():
    """Brings back what user code may have changed and the next cell needs, when nobody waits for it."""
    restore_descriptors()
    restore_texts()
    restore_handler()
    sys.settrace(None)
    sys.setprofile(None)
    setitimer(ITIMER_REAL, 0)
    if sys.getrecursionlimit() < Notebook.recursion:
        sys.setrecursionlimit(Notebook.recursion)


def end_child(told):
    """Ends a process that user code forked within the cell, as it would have ended by itself."""
    error = told.get("error")
    if error is not None and "exit" not in told:
        try:
            Streams.text[2].write(error["traceback"] + "\n")
        except BaseException:
            pass
    flush_own()
    os_exit(told.get("exit", 0 if error is None else 1) & 0xFF)
