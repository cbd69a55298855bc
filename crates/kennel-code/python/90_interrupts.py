# SIGINT: ends what a cell does, and nothing else.
MAIN_THREAD = get_ident()
# An interrupt in the midst of these would lose a message or a lock; it waits instead.
CRITICAL = {
    function.__code__
    for function in (
        send_body, send_packet, receive_message, settle, set_future, wake, step_down, dispatch, next_message, park_slot, read_one,
        wait_for, on_readable, watch, unwatch, post_ask, abandon, abandon_all,
    )
}
INTERRUPTIBLE = {channel_poll.__code__, follow.__code__}
# Where user code begins on the stack.
BOTTOM = set()


class Interrupts:
    # A cell runs, and may be interrupted.
    armed = False
    # One has come during this cell.
    came = False
    # One has come that could not strike yet.
    waiting = False


def on_sigint(_number, frame):
    if os_getpid() != MAIN_PID:
        raise KeyboardInterrupt
    if not Interrupts.armed:
        return
    Interrupts.came = True
    user, critical = where(frame)
    if user and not critical:
        raise KeyboardInterrupt
    task = Notebook.task
    if user or task is None:
        Interrupts.waiting = True
    if task is not None:
        # As a callback of the loop, since this is where the loop is between its steps; it wakes the loop too.
        Notebook.loop.call_soon_threadsafe(task.cancel)


def where(frame):
    """Whether user code runs here, so that KeyboardInterrupt belongs to it, and whether it is within what must not be broken off."""
    user = False
    critical = False
    free = frame is not None and frame.f_code in INTERRUPTIBLE
    while frame is not None:
        code = frame.f_code
        if code in BOTTOM:
            return user, critical and not free
        critical = critical or code in CRITICAL
        if code.co_filename != RUNTIME_FILE and not code.co_filename.startswith(LIBRARY_FILES):
            user = True
        frame = frame.f_back
    # Outside of all that runs user code there is only the runtime, and what has started it.
    return False, critical and not free


def check_interrupt():
    """Lets an interrupt strike that had to wait."""
    if Interrupts.waiting and get_ident() == MAIN_THREAD:
        Interrupts.waiting = False
        raise KeyboardInterrupt


def restore_handler():
    """Makes SIGINT come here again where user code has had it otherwise."""
    if getsignal(SIGINT) is not on_sigint:
        set_signal(SIGINT, on_sigint)
    pthread_sigmask(SIG_UNBLOCK, (SIGINT,))


def arm_interrupts():
    Interrupts.came = Interrupts.waiting = False
    Interrupts.armed = True
