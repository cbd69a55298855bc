//! What cannot use a channel.

use crate::scene::{block_on, start};
use kennel_box::EngineKind;
use serde_json::json;

/// Calls on the descriptor `fd`, which is a socket with a packet to be read; `other` is a pipe with bytes in it.
const CALLS: &str = "
import ctypes, fcntl
libc = ctypes.CDLL(None, use_errno=True)
def foreign(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
class Vector(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
class Header(ctypes.Structure):
    _fields_ = [('name', ctypes.c_void_p), ('name_length', ctypes.c_uint), ('vectors', ctypes.POINTER(Vector)),
                ('count', ctypes.c_size_t), ('control', ctypes.c_void_p), ('control_length', ctypes.c_size_t),
                ('flags', ctypes.c_int)]
class Many(ctypes.Structure):
    _fields_ = [('header', Header), ('length', ctypes.c_uint)]
room = ctypes.create_string_buffer(b'x', 16)
vector = Vector(ctypes.cast(room, ctypes.c_void_p), 1)
many = Many(Header(None, 0, ctypes.pointer(vector), 1, None, 0, 0), 0)
inner, outer = os.pipe()
os.write(outer, b'12345678')
temporary = os.open('/tmp', os.O_TMPFILE | os.O_RDWR)
os.write(temporary, b'12345678')
def calls(fd, plain):
    return {
        'read': lambda: os.read(fd, 1),
        'readv': lambda: os.readv(fd, [bytearray(1)]),
        'pread': lambda: os.pread(fd, 1, 0),
        'preadv': lambda: os.preadv(fd, [bytearray(1)], 0),
        'preadv2': lambda: os.preadv(fd, [bytearray(1)], 0, os.RWF_HIPRI),
        'write': lambda: os.write(fd, b'x'),
        'writev': lambda: os.writev(fd, [b'x']),
        'pwrite': lambda: os.pwrite(fd, b'x', 0),
        'pwritev': lambda: os.pwritev(fd, [b'x'], 0),
        'pwritev2': lambda: os.pwritev(fd, [b'x'], 0, os.RWF_DSYNC),
        'recvfrom': lambda: plain.recv(1),
        'sendto': lambda: plain.send(b'x'),
        'recvmmsg': lambda: foreign('recvmmsg', fd, ctypes.byref(many), 1, socket.MSG_DONTWAIT, None),
        'sendmmsg': lambda: foreign('sendmmsg', fd, ctypes.byref(many), 1, 0),
        'splice to': lambda: foreign('splice', inner, None, fd, None, 1, 0),
        'splice from': lambda: foreign('splice', fd, None, outer, None, 1, 0),
        'tee': lambda: foreign('tee', fd, outer, 1, 0),
        'vmsplice': lambda: foreign('vmsplice', fd, ctypes.byref(vector), 1, 0),
        'sendfile to': lambda: os.sendfile(fd, temporary, 0, 1),
        'copy_file_range to': lambda: foreign('copy_file_range', temporary, None, fd, None, 1, 0),
        'dup': lambda: os.close(os.dup(fd)),
        'F_DUPFD': lambda: os.close(fcntl.fcntl(fd, fcntl.F_DUPFD, 50)),
        'F_SETFL': lambda: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK),
        'dup2 from': lambda: os.close(os.dup2(fd, 60)),
        'dup2 to': lambda: os.dup2(fd if fd != 1000 else 0, fd),
        'dup3 to': lambda: foreign('dup3', 0, fd, 0) if fd == 1000 else None,
        'setsockopt': lambda: plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096),
        'shutdown': lambda: plain.shutdown(socket.SHUT_RDWR),
        'close_range': lambda: foreign('syscall', 436, fd, fd, 0),
        'close': lambda: os.close(fd),
    }
def outcome(call):
    try: call()
    except OSError as error: return errno.errorcode[error.errno]
    return 'done'
";

pub(crate) fn only_two_calls_can_use_the_channel() {
    block_on(async {
        let script = format!(
            "{CALLS}
hear()
say({{name: outcome(call) for name, call in calls(1000, channel).items()}})
say([fcntl.fcntl(1000, fcntl.F_GETFD), fcntl.fcntl(1000, fcntl.F_SETFD, fcntl.FD_CLOEXEC), fcntl.fcntl(1000, fcntl.F_GETFD)])
say(hear().decode())
"
        );
        let mut scene = start(EngineKind::Native, &script).await;
        scene.say("begin");
        // It is there all the time for whoever could read it.
        scene.say("still here");
        let outcomes = scene.json().await;
        let outcomes = outcomes.as_object().unwrap();
        assert_eq!(outcomes.len(), 30);
        for (call, outcome) in outcomes {
            assert_eq!(outcome, "EPERM", "{call}");
        }
        assert_eq!(scene.json().await, json!([0, 0, 1]));
        assert_eq!(scene.json().await, json!("still here"));
        scene.end().await;
    });
}

pub(crate) fn the_same_calls_work_on_another_socket() {
    block_on(async {
        let script = format!(
            "{CALLS}
outcomes = {{}}
for name in calls(1000, channel):
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    far.send(b'packet')
    outcomes[name] = outcome(calls(near.fileno(), near)[name])
    if name in ('close', 'close_range'): near.detach()
say(outcomes)
"
        );
        let mut scene = start(EngineKind::Native, &script).await;
        let outcomes = scene.json().await;
        for (call, outcome) in outcomes.as_object().unwrap() {
            assert_ne!(outcome, "EPERM", "{call}");
        }
        scene.end().await;
    });
}

pub(crate) fn code_that_closes_and_writes_everywhere_does_no_harm() {
    block_on(async {
        let script = "
for fd in range(3, 1024):
    for call in (lambda: os.write(fd, b'forged'), lambda: os.read(fd, 10), lambda: os.dup2(1, fd), lambda: os.close(fd)):
        try: call()
        except OSError: pass
os.closerange(3, 1024)
try: channel.close()
except OSError: pass
channel = socket.socket(fileno=1000)
say('unharmed')
say(hear().decode())
";
        let mut scene = start(EngineKind::Native, script).await;
        scene.say("nobody has read this");
        assert_eq!(scene.json().await, json!("unharmed"));
        assert_eq!(scene.json().await, json!("nobody has read this"));
        scene.end().await;
    });
}

pub(crate) fn programs_started_from_it_have_no_channel() {
    block_on(async {
        let script = "
import fcntl, subprocess
fcntl.fcntl(1000, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
look = [sys.executable, '-I', '-c', '''
import os
for fd in range(1024):
    try: os.fstat(fd)
    except OSError: continue
    print(fd, end=' ')
''']
listed = []
for close in (True, False):
    ended = subprocess.run(look, close_fds=close, capture_output=True, text=True, check=True)
    listed.append(ended.stdout)
shell = subprocess.run('echo from a shell', shell=True, capture_output=True, text=True, check=True)
say([listed, shell.stdout])
";
        let mut scene = start(EngineKind::Native, script).await;
        let found = scene.json().await;
        for listed in found[0].as_array().unwrap() {
            assert_eq!(listed, "0 1 2 ");
        }
        assert_eq!(found[1], "from a shell\n");
        scene.end().await;
    });
}
