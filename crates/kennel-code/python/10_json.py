# JSON text to objects and back, by the C parts of the module json, which user code cannot replace.
import json
import _json
from json.encoder import encode_basestring as json_string


class Record(dict):
    """A dict whose items are attributes too: `record.name` is `record["name"]`, unless dict has a method of that name."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            pass
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError("no item %r; %s" % (name, nearest(name, [key for key in self if isinstance(key, str)])))

    def __dir__(self):
        return [*dict.__dir__(self), *(key for key in self if isinstance(key, str) and key.isidentifier())]

    def __copy__(self):
        return Record(self)


Record.__module__ = "mcp.runtime"


def jsonable(value):
    """What JSON says of objects that are not JSON themselves: paths, dates, enums, sets and dataclasses."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in kind.__dataclass_fields__}
    for method in ("isoformat", "model_dump"):
        if hasattr(kind, method):
            return getattr(value, method)()
    if any(base.__module__ == "enum" for base in kind.__mro__):
        return value.value
    raise TypeError("an object of type %s cannot be sent to a tool: it is not JSON" % kind.__name__)


class Scanning:
    """What the C scanner asks for."""

    strict = False
    object_hook = Record
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


scan_json = _json.make_scanner(Scanning)
SPACE = " \t\r\n"


def encode_json(value):
    """The value as JSON in UTF-8; raises TypeError, ValueError or RecursionError."""
    write = _json.make_encoder({}, jsonable, json_string, None, ":", ",", False, False, False)
    return "".join(write(value, 0)).encode("utf-8")


try:
    encode_json({"sample": [1]})
except TypeError:
    # A CPython whose C part is called otherwise: its Python part calls it.
    json_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=jsonable)

    def encode_json(value):
        return json_encoder.encode(value).encode("utf-8")


def decode_json(text):
    """The one value that the text is; raises ValueError or RecursionError."""
    start = 0
    while start < len(text) and text[start] in SPACE:
        start += 1
    try:
        value, end = scan_json(text, start)
    except StopIteration:
        raise ValueError("no JSON") from None
    if text[end:].strip(SPACE):
        raise ValueError("text after the JSON")
    return value
