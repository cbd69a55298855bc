# Private references to what user code may replace, and limits.
import ast
import asyncio
import difflib
import errno
import fcntl
import inspect
import io
import linecache
import os
import re
import select
import _signal
import socket
import struct
import sys
import symtable
import textwrap
import threading
import traceback
import types
import warnings

RUNTIME_FILE = "<kennel>"
# The descriptor of the channel is the argument after -c.
CHANNEL_FD = int(sys.argv[1]) if len(sys.argv) > 1 else 3
# Bytes of payload in one packet, and of one message either way.
PACKET_LIMIT = 65536
SEND_LIMIT = 16 * 1024 * 1024
RECEIVE_LIMIT = 65 * 1024 * 1024
# Characters of a shown value, of a traceback and of the message of an exception.
VALUE_LIMIT = 20000
TRACEBACK_LIMIT = 16 * 1024
MESSAGE_LIMIT = 4000
# Frames of a traceback that are looked at, and levels of a shown container.
FRAME_LIMIT = 1000
DEPTH_LIMIT = 60
# Cells whose source stays known to inspect and tracebacks.
SOURCE_LIMIT = 1000
# Bytes of a saved tool's source, and characters of capability_summary().
SAVED_LIMIT = 32 * 1024
SUMMARY_LIMIT = 1500
# Names that are compared for a hint.
NAMES_LIMIT = 500
# How often the loop is run again to let a cell's task end after something else in the loop has stopped it.
RERUN_LIMIT = 8

os_close, os_dup2, os_fstat, os_getpid = os.close, os.dup2, os.fstat, os.getpid
os_open, os_write, os_exit, os_set_blocking, os_get_blocking = os.open, os.write, os._exit, os.set_blocking, os.get_blocking
fcntl_call = fcntl.fcntl
get_ident, make_lock = threading.get_ident, threading.Lock
get_running_loop, new_event_loop, set_event_loop = asyncio.get_running_loop, asyncio.new_event_loop, asyncio.set_event_loop
CancelledError = asyncio.CancelledError
getsignal, set_signal, pthread_sigmask, setitimer = _signal.getsignal, _signal.signal, _signal.pthread_sigmask, _signal.setitimer
SIGINT, SIG_UNBLOCK, ITIMER_REAL = _signal.SIGINT, _signal.SIG_UNBLOCK, _signal.ITIMER_REAL
ModuleType, Signature, Parameter = types.ModuleType, inspect.Signature, inspect.Parameter
sys_modules = sys.modules
MAIN_PID = os_getpid()


def nearest(name, names):
    """A hint that names what was probably meant, or what there is; of many names it looks at the first."""
    names = [other for other in names if not other.startswith("__")][:NAMES_LIMIT]
    close = difflib.get_close_matches(name, names, 3, 0.5)
    close += [other for other in names if name.lower() in other.lower() and other not in close][: 3 - len(close)]
    if close:
        return "did you mean %s?" % " or ".join(close)
    if not names:
        return "there are none"
    return "there are: %s%s" % (", ".join(names[:10]), ", …" if len(names) > 10 else "")


def clean(text):
    """The text without lone surrogates, which no JSON in UTF-8 can carry."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def cut_middle(text, limit):
    """The text, or its head and tail with a note between them, of at most `limit` characters."""
    if len(text) <= limit:
        return text
    note = "\n… %d characters left out …\n" % (len(text) - limit)
    half = (limit - len(note) - 8) // 2
    return text[:half] + note + text[-half:]
