# The life of the process: hello, then cells until the host closes the channel.


def start():
    start_streams()
    start_namespace()
    healthy_loop()
    set_signal(SIGINT, on_sigint)
    while Tokens.interpreter is None:
        token, message = next_message()
        if message.get("t") == "hello":
            Tokens.interpreter = token
    workspace = (message.get("paths") or {}).get("workspace")
    if isinstance(workspace, str) and os.path.isdir(workspace):
        sys.path.append(workspace)
    runtime_module.workspace = workspace
    runtime_module.version = message.get("version")
    python = "%d.%d.%d" % sys.version_info[:3]
    send_body(Tokens.interpreter, encode_json({"t": "ready", "python": python, "pid": MAIN_PID}))


def serve():
    while True:
        token, message = next_message()
        kind = message.get("t")
        if kind == "cell":
            run_cell(token, message)
        elif kind == "servers":
            set_servers(message.get("servers") or [])
        elif kind == "saved":
            set_saved(message.get("tools") or [])


def live():
    while True:
        try:
            serve()
        except ChannelClosed as closed:
            leave(closed)
        except BaseException:
            if os_getpid() != MAIN_PID:
                os_exit(1)
            if Tokens.cell is not None:
                # A cell that cannot be ended in order ends with its process.
                os_exit(70)


start()
live()
