# Packets and messages over the channel, by sendmsg and recvmsg alone.
HEADER = struct.Struct("<16sIB3x")
MORE = 1
DONTWAIT = socket.MSG_DONTWAIT

channel_socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=CHANNEL_FD)
channel_sendmsg, channel_recvmsg_into = channel_socket.sendmsg, channel_socket.recvmsg_into
channel_poll_in, channel_poll_out = select.poll(), select.poll()
channel_poll_in.register(CHANNEL_FD, select.POLLIN)
channel_poll_out.register(CHANNEL_FD, select.POLLOUT)
wait_readable, wait_writable = channel_poll_in.poll, channel_poll_out.poll
fcntl_call(CHANNEL_FD, fcntl.F_SETFD, fcntl.FD_CLOEXEC)


class ChannelClosed(Exception):
    """The host has gone."""


class Tokens:
    """The tokens that packets may carry: the interpreter's, and the running cell's."""

    interpreter = None
    cell = None


class Sender:
    lock = make_lock()
    number = 0


def send_body(token, body):
    """Sends a whole message; other threads wait for its end."""
    if len(body) > SEND_LIMIT:
        raise MCPError("the message has %d bytes, over the limit of %d" % (len(body), SEND_LIMIT), kind="limit")
    with Sender.lock:
        Sender.number = number = (Sender.number + 1) & 0xFFFFFFFF
        if len(body) <= PACKET_LIMIT:
            return send_packet([HEADER.pack(token, number, 0), body])
        view = memoryview(body)
        for start in range(0, len(body), PACKET_LIMIT):
            end = start + PACKET_LIMIT
            send_packet([HEADER.pack(token, number, MORE if end < len(body) else 0), view[start:end]])


def send_packet(parts):
    while True:
        try:
            channel_sendmsg(parts)
            return
        except BlockingIOError:
            wait_writable()
        except OSError as failure:
            raise ChannelClosed(str(failure)) from None


class Receiver:
    buffer = bytearray(HEADER.size + PACKET_LIMIT)
    view = memoryview(buffer)
    # The message that is being received: its token and number, and its payloads so far.
    key = None
    parts = []
    size = 0


def receive_message(flags):
    """The next whole message as (token, text), or None after a packet that did not end one.

    Only one thread may be in here. With DONTWAIT it raises BlockingIOError where nothing is there.
    """
    try:
        count = channel_recvmsg_into([Receiver.view], 0, flags)[0]
    except BlockingIOError:
        raise
    except OSError as failure:
        raise ChannelClosed(str(failure)) from None
    if count == 0:
        raise ChannelClosed("the host has closed the channel")
    if count < HEADER.size:
        return None
    token, number, more = HEADER.unpack_from(Receiver.buffer)
    payload = bytes(Receiver.view[HEADER.size : count])
    if Receiver.key is None and not more & MORE:
        return token, payload
    if Receiver.key != (token, number):
        Receiver.key, Receiver.parts, Receiver.size = (token, number), [], 0
    Receiver.size += len(payload)
    if Receiver.size <= RECEIVE_LIMIT:
        Receiver.parts.append(payload)
    else:
        # The beginning alone says whose reply it is.
        del Receiver.parts[1:]
    if more & MORE:
        return None
    whole = b"".join(Receiver.parts)
    Receiver.key, Receiver.parts, Receiver.size = None, [], 0
    return token, whole
