# The exception of tools.


class MCPError(Exception):
    """A tool or its server said no.

    kind: "tool" (the tool ran and failed), "protocol" (the server refused the request), "refused" (not allowed or not there), "limit".
    message, content (the tool's content blocks), code and data (of protocol errors), server, tool.
    """

    def __init__(self, message, kind="tool", code=None, data=None, content=None, server=None, tool=None):
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.code = code
        self.data = data
        self.content = [] if content is None else content
        self.server = server
        self.tool = tool

    def __str__(self):
        where = ".".join(part for part in (self.server, self.tool) if part)
        code = "" if self.code is None else " (code %s)" % self.code
        return "%s%s%s" % (where + ": " if where else "", self.message, code)

    def __repr__(self):
        return "MCPError(%r, kind=%r)" % (str(self), self.kind)

    def __reduce__(self):
        return MCPError, (self.message, self.kind, self.code, self.data, self.content, self.server, self.tool)


MCPError.__module__ = "mcp.runtime"


def refused(message, **place):
    return MCPError(message, kind="refused", **place)
