import builtins, sys
exec(compile(sys.stdin.buffer.read(), "<kennel>", "exec"), {"__name__": "kennel", "__builtins__": dict(vars(builtins))})
