# Descriptors 0, 1 and 2: kept whole for every cell, and marked at its end.


def identity(fd):
    try:
        found = os_fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def open_stdin():
    """Puts /dev/null at descriptor 0."""
    try:
        fd = os_open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        if fd != 0:
            os_dup2(fd, 0)
            os_close(fd)
        else:
            os_dup2(fd, 0, True)
    except OSError:
        pass


def duplicate(fd):
    """A private duplicate, out of the way of code that closes the low descriptors."""
    for lowest in (200, 4):
        try:
            return fcntl_call(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError:
            continue
    return -1


class Streams:
    """What 0, 1 and 2 are, the private duplicates of 1 and 2, and the text streams on them."""

    known = {}
    private = {}
    text = {}
    # Those of the parent, in a child: kept, since to free them is to flush them.
    left = []


def open_text(fd):
    raw = io.FileIO(fd, "w", closefd=False)
    text = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True)
    text.mode = "w"
    return text


def start_streams():
    open_stdin()
    for fd in (0, 1, 2):
        Streams.known[fd] = identity(fd)
    for fd in (1, 2):
        Streams.private[fd] = duplicate(fd)
    restore_texts()
    os.register_at_fork(after_in_child=renew_texts)


def renew_texts():
    """Gives a forked child text streams of its own: a thread of the parent may have held the locks of these, and what is in them is the parent's."""
    for fd, name in ((1, "stdout"), (2, "stderr")):
        old = Streams.text[fd]
        Streams.left.append(old)
        new = Streams.text[fd] = open_text(fd)
        setattr(sys, "__%s__" % name, new)
        if getattr(sys, name, None) is old:
            setattr(sys, name, new)


def restore_descriptors():
    """Brings 0, 1 and 2 back where user code has closed, redirected or changed them."""
    if identity(0) != Streams.known[0]:
        open_stdin()
        Streams.known[0] = identity(0)
    for fd in (1, 2):
        known, private = Streams.known[fd], Streams.private[fd]
        whole, kept = identity(fd) == known, identity(private) == known
        if whole and not kept:
            Streams.private[fd] = duplicate(fd)
        elif kept and not whole:
            try:
                os_dup2(private, fd)
            except OSError:
                continue
        elif not whole:
            continue
        if not os_get_blocking(fd):
            os_set_blocking(fd, True)


def is_usable(text):
    try:
        return not text.closed
    except ValueError:
        return False


def restore_texts():
    """Makes sys.stdout and sys.stderr the streams on 1 and 2 again."""
    for fd, name in ((1, "stdout"), (2, "stderr")):
        text = Streams.text.get(fd)
        if text is None or not is_usable(text):
            text = Streams.text[fd] = open_text(fd)
            setattr(sys, "__%s__" % name, text)
        if getattr(sys, name, None) is not text:
            setattr(sys, name, text)
    stdin = getattr(sys, "stdin", None)
    if stdin is not sys.__stdin__ or stdin is None or not is_usable(stdin):
        sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)


def flush_user():
    """Flushes what user code has put in the place of sys.stdout and sys.stderr; this may run code of its own."""
    for fd, name in ((1, "stdout"), (2, "stderr")):
        text = getattr(sys, name, None)
        if text is not Streams.text[fd] and text is not None:
            try:
                text.flush()
            except BaseException:
                pass


def flush_own():
    """Flushes the streams on 1 and 2, if need be after bringing the descriptors back."""
    for text in Streams.text.values():
        try:
            text.flush()
        except BaseException:
            restore_descriptors()
            try:
                text.flush()
            except BaseException:
                pass


def write_marks(token):
    """Writes the mark of the cell to 1 and 2; says which of them have it."""
    mark = b"\0kennel:" + token.hex().encode("ascii") + b"\0"
    return [write_mark(fd, mark) for fd in (1, 2)]


def write_mark(fd, mark):
    known = Streams.known[fd]
    if known is None:
        return False
    for place in (Streams.private[fd], fd):
        if identity(place) != known:
            continue
        try:
            os_write(place, mark)
            return True
        except BlockingIOError:
            pass
        except OSError:
            return False
        try:
            os_set_blocking(place, True)
            os_write(place, mark)
            return True
        except OSError:
            return False
    return False
