# Values and exceptions as bounded text.


class Full(Exception):
    """No room is left for more of a value."""


class Room:
    __slots__ = ("parts", "left", "inside")

    def __init__(self, limit):
        self.parts = []
        self.left = limit
        self.inside = set()

    def add(self, text):
        if len(text) > self.left:
            self.parts.append(text[: self.left])
            raise Full
        self.parts.append(text)
        self.left -= len(text)


BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: ("frozenset({", "})"), dict: "{}", Record: "{}"}


def show(value):
    """The value's repr; of large containers and texts only as much as is shown is made."""
    kind = type(value)
    if kind is int and -(1 << 63) < value < 1 << 63 or kind is bool or kind is float:
        return repr(value)
    room = Room(VALUE_LIMIT)
    try:
        show_in(value, room, 0)
        return clean("".join(room.parts))
    except Full:
        size = ""
        if kind in BRACKETS or kind in (str, bytes, bytearray):
            size = ", %d %s in all" % (len(value), "items" if kind in BRACKETS else "long")
        return clean("".join(room.parts)) + " … (cut at %d characters%s)" % (VALUE_LIMIT, size)


def show_in(value, room, depth):
    kind = type(value)
    if kind in BRACKETS:
        if id(value) in room.inside or depth > DEPTH_LIMIT:
            return room.add("...".join(BRACKETS[kind]))
        if not value and kind in (set, frozenset):
            return room.add(kind.__name__ + "()")
        room.inside.add(id(value))
        opening, closing = BRACKETS[kind]
        room.add(opening)
        pairs = isinstance(value, dict)
        first = True
        for item in value.items() if pairs else value:
            if not first:
                room.add(", ")
            first = False
            if pairs:
                show_in(item[0], room, depth + 1)
                room.add(": ")
                item = item[1]
            show_in(item, room, depth + 1)
        room.add("," + closing if kind is tuple and len(value) == 1 else closing)
        room.inside.discard(id(value))
    elif kind in (str, bytes, bytearray) and len(value) > room.left:
        room.add(repr(value[: room.left]))
        raise Full
    else:
        room.add(plain_repr(value))


def plain_repr(value):
    try:
        return repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        return "<%s whose repr failed: %s>" % (type(value).__name__, describe(failure))


def describe(failure):
    """The type and message of an exception on one line."""
    message = message_of(failure)
    return type(failure).__name__ + (": " + message if message else "")


def message_of(failure):
    try:
        return clean(cut_middle(str(failure), MESSAGE_LIMIT))
    except KeyboardInterrupt:
        raise
    except BaseException as again:
        return "<its str failed: %s>" % type(again).__name__


TRACEBACK_HEAD = "Traceback (most recent call last):\n"
LIBRARY_FILES = (asyncio.__path__[0] + os.sep, sys.modules["selectors"].__file__)


def strip_frames(report, seen):
    """Removes the runtime's frames, and the loop's before the first of user code, from a report and all that hang on it."""
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    frames = [frame for frame in report.stack if frame.filename != RUNTIME_FILE]
    while frames and frames[0].filename.startswith(LIBRARY_FILES):
        del frames[0]
    report.stack[:] = frames
    strip_frames(report.__cause__, seen)
    strip_frames(report.__context__, seen)
    for part in getattr(report, "exceptions", None) or ():
        strip_frames(part, seen)


def tell(failure):
    """An exception as type, message and the traceback of user code."""
    message = message_of(failure)
    try:
        depth, trace = 0, failure.__traceback__
        while trace is not None:
            depth, trace = depth + 1, trace.tb_next
        limit = -FRAME_LIMIT // 5 if depth > FRAME_LIMIT else None
        report = traceback.TracebackException(type(failure), failure, failure.__traceback__, limit=limit)
        strip_frames(report, set())
        text = "".join(report.format())
        if not report.stack and text.startswith(TRACEBACK_HEAD):
            text = text[len(TRACEBACK_HEAD) :]
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = "%s: %s\n" % (type(failure).__name__, message)
    return {
        "type": str(type(failure).__qualname__)[:200],
        "message": message,
        "traceback": clean(cut_middle(text, TRACEBACK_LIMIT)).rstrip("\n"),
    }
