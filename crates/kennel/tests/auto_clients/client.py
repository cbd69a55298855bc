"""Uses one MCP server by the official client, which finds out by itself what era to speak.

Standard input is a JSON object: `url`, or `command` with all its words; `tool`, `arguments`, and `answer`, the content
that a form is filled in with. Standard output is one: the version, the server's name, its tools, the result, and what
was asked.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult


async def main(wish):
    asked = []

    async def elicit(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content=wish["answer"])

    command = wish.get("command")
    server = StdioServerParameters(command=command[0], args=command[1:]) if command else wish["url"]
    async with Client(server, mode="auto", elicitation_callback=elicit) as client:
        tools = await client.list_tools()
        result = await client.call_tool(wish["tool"], wish["arguments"])
        return {
            "version": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools.tools],
            "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
            "asked": asked,
        }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
