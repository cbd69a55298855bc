# Questions to the host, from coroutines of any loop and from any thread.
#
# Whoever waits reads: an idle main thread, a loop that has the channel among its readers, or a thread in a synchronous call. One of them
# reads at a time (Reading.busy) and hands the others what is theirs; when it leaves it wakes one of the threads that wait.
from collections import deque


class Slot:
    """One who waits: for the reply to an ask, or (the main thread) for a message from the host."""

    __slots__ = ("number", "done", "reply", "future", "loop", "thread", "lock", "parked")

    def __init__(self, loop=None):
        self.number = None
        self.done = False
        self.reply = None
        self.loop = loop
        self.future = None if loop is None else loop.create_future()
        self.thread = get_ident()
        self.lock = None
        self.parked = False


class Reading:
    mutex = make_lock()
    busy = False
    followers = []
    pending = {}
    number = 0
    inbox = deque()
    main = Slot()
    # Loops of user code that have the channel among their readers, and how many asks need it there.
    watching = {}


def leave(_reason=None):
    os_exit(0)


def settle(slot, reply):
    """Gives the slot its reply and wakes who waits for it. Not to be called with the mutex held."""
    with Reading.mutex:
        if slot.done:
            return
        slot.reply = reply
        slot.done = True
        wake(slot)
    if slot.future is None:
        return
    if slot.thread == get_ident():
        set_future(slot.future, reply)
    else:
        try:
            slot.loop.call_soon_threadsafe(set_future, slot.future, reply)
        except RuntimeError:
            pass


def set_future(future, reply):
    if not future.done():
        future.set_result(reply)


def wake(slot):
    if slot.parked:
        slot.parked = False
        Reading.followers.remove(slot)
        slot.lock.release()


def step_down():
    """Ends reading and lets one of the threads that wait go on with it."""
    with Reading.mutex:
        Reading.busy = False
        if Reading.followers:
            wake(Reading.followers[0])


def dispatch(token, body):
    """Hands a message to who waits for it; drops what nobody knows."""
    if token != Tokens.cell and token != Tokens.interpreter and Tokens.cell is not None:
        return
    try:
        message = decode_json(body.decode("utf-8"))
        kind = message.get("t")
    except (ValueError, RecursionError, AttributeError, MemoryError) as failure:
        number = re.search(rb'"n":\s*(\d{1,15})', body[:200])
        if number is None:
            return
        text = "the reply could not be read (%s: %s)" % (type(failure).__name__, failure)
        message = {"n": int(number.group(1)), "error": {"kind": "protocol", "message": text}}
        kind = "reply"
    if kind == "reply":
        slot = Reading.pending.pop(message.get("n"), None) if token == Tokens.cell else None
        if slot is not None:
            settle(slot, message)
    elif token != Tokens.cell and (kind == "cell" or token == Tokens.interpreter or Tokens.interpreter is None):
        Reading.inbox.append((token, message))
        with Reading.mutex:
            wake(Reading.main)


def next_message():
    """The next message for the main thread, which waits for it."""
    while True:
        with Reading.mutex:
            if Reading.inbox:
                return Reading.inbox.popleft()
            lead = not Reading.busy
            if lead:
                Reading.busy = True
            else:
                park_slot(Reading.main)
        if not lead:
            Reading.main.lock.acquire()
            continue
        try:
            while not Reading.inbox:
                read_one(0, channel_poll)
        finally:
            step_down()


def park_slot(slot):
    slot.lock = make_lock()
    slot.lock.acquire()
    slot.parked = True
    Reading.followers.append(slot)


def read_one(flags, wait):
    try:
        received = receive_message(flags)
    except BlockingIOError:
        wait()
        return
    except ChannelClosed as closed:
        leave(closed)
    if received is not None:
        dispatch(*received)


# The two places where an interrupt may strike within a synchronous ask: nothing is lost if they are left at any point.
def channel_poll():
    wait_readable()


def follow(slot):
    slot.lock.acquire()


def wait_for(slot):
    """Blocks until the slot has its reply."""
    while True:
        with Reading.mutex:
            if slot.done:
                return
            lead = not Reading.busy
            if lead:
                Reading.busy = True
            else:
                park_slot(slot)
        if lead:
            try:
                while not slot.done:
                    check_interrupt()
                    read_one(DONTWAIT, channel_poll)
            finally:
                step_down()
        else:
            try:
                check_interrupt()
                follow(slot)
            except BaseException:
                with Reading.mutex:
                    if slot.parked:
                        slot.parked = False
                        Reading.followers.remove(slot)
                    elif not Reading.busy and Reading.followers:
                        wake(Reading.followers[0])
                raise


def on_readable():
    """A loop has seen that the channel can be read; a forked child, which has the same loop and channel, leaves it alone."""
    if os_getpid() != MAIN_PID:
        return
    with Reading.mutex:
        if Reading.busy:
            return
        Reading.busy = True
    try:
        for _ in range(64):
            received = receive_message(DONTWAIT)
            if received is not None:
                dispatch(*received)
    except BlockingIOError:
        pass
    except ChannelClosed as closed:
        leave(closed)
    finally:
        step_down()


def watch(loop):
    count = Reading.watching.get(loop, 0)
    Reading.watching[loop] = count + 1
    if count == 0:
        loop.add_reader(CHANNEL_FD, on_readable)


def unwatch(loop):
    count = Reading.watching.get(loop, 1) - 1
    if count:
        Reading.watching[loop] = count
        return
    Reading.watching.pop(loop, None)
    if not loop.is_closed():
        loop.remove_reader(CHANNEL_FD)


def prepare_ask(slot, op, fields):
    """The question as bytes and the token to send it with; runs user code where the arguments are objects of its own."""
    if os_getpid() != MAIN_PID:
        raise refused("a child process of the notebook cannot call tools: call them in the notebook itself")
    token = Tokens.cell
    if token is None:
        raise refused("the cell is over: tools can be called only while a cell runs")
    with Reading.mutex:
        Reading.number = slot.number = Reading.number + 1
    return token, encode_json({"t": "ask", "n": slot.number, "op": op, **fields})


def post_ask(slot, token, body):
    """Sends the question; from here on the slot can get its reply."""
    Reading.pending[slot.number] = slot
    try:
        send_body(token, body)
    except ChannelClosed as closed:
        leave(closed)
    except BaseException:
        Reading.pending.pop(slot.number, None)
        raise
    if Tokens.cell is not token:
        # The cell ended meanwhile, and whoever ended it may not have seen this slot.
        Reading.pending.pop(slot.number, None)
        settle(slot, CELL_OVER)


CELL_OVER = {"error": {"kind": "refused", "message": "the cell is over: its calls were dropped"}}


def abandon(slot):
    """Forgets an ask that nobody waits for any more and tells the host."""
    if Reading.pending.pop(slot.number, None) is not None and os_getpid() == MAIN_PID and Tokens.cell is not None:
        try:
            send_body(Tokens.cell, encode_json({"t": "cancel", "n": slot.number}))
        except ChannelClosed as closed:
            leave(closed)


def abandon_all():
    """The cell is over: every ask fails."""
    while Reading.pending:
        try:
            _, slot = Reading.pending.popitem()
        except KeyError:
            break
        settle(slot, CELL_OVER)


def answer(reply):
    """What the host said, or MCPError."""
    error = reply.get("error")
    if error is None:
        return reply.get("ok")
    raise MCPError(
        str(error.get("message", "no reason given")),
        kind=error.get("kind", "protocol"),
        code=error.get("code"),
        data=error.get("data"),
        content=error.get("content"),
    )


async def ask(op, fields):
    loop = get_running_loop()
    slot = Slot(loop)
    asked = prepare_ask(slot, op, fields)
    foreign = loop is not Notebook.loop
    if foreign:
        watch(loop)
    try:
        post_ask(slot, *asked)
        try:
            reply = await slot.future
        except BaseException:
            abandon(slot)
            raise
    finally:
        if foreign:
            unwatch(loop)
    return answer(reply)


def ask_sync(op, fields):
    slot = Slot()
    post_ask(slot, *prepare_ask(slot, op, fields))
    try:
        wait_for(slot)
    except BaseException:
        abandon(slot)
        raise
    return answer(slot.reply)


async def drive(steps):
    """Runs a generator that yields asks, from a coroutine."""
    try:
        asked = next(steps)
        while True:
            try:
                answered = await ask(*asked)
            except Exception as failure:
                asked = steps.throw(failure)
            else:
                asked = steps.send(answered)
    except StopIteration as end:
        return end.value


def drive_sync(steps):
    """Runs a generator that yields asks, blocking its thread."""
    try:
        asked = next(steps)
        while True:
            try:
                answered = ask_sync(*asked)
            except Exception as failure:
                asked = steps.throw(failure)
            else:
                asked = steps.send(answered)
    except StopIteration as end:
        return end.value
