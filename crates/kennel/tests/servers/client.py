"""Uses one MCP server by the official client.

Standard input is a JSON object: `url`, `tool`, `arguments`, and `answers`, true for a client that lets itself be asked.
Standard output is one: the server's name, its tools, the tool's result, its progress, and what the server asked.
"""

import asyncio
import json
import sys

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client


async def main(wish):
    asked, progress = [], []

    async def elicit(_context, params):
        asked.append({"method": "elicitation/create", "message": params.message})
        return types.ElicitResult(action="accept", content={"name": "Ada", "integer": 7})

    async def sample(_context, params):
        text = params.messages[0].content.text
        asked.append({"method": "sampling/createMessage", "text": text, "maxTokens": params.maxTokens})
        content = types.TextContent(type="text", text="a sampled sentence")
        return types.CreateMessageResult(role="assistant", content=content, model="none")

    async def roots(_context):
        asked.append({"method": "roots/list"})
        return types.ListRootsResult(roots=[types.Root(uri="file:///a/root/of/the/client", name="a root")])

    async def note(value, total, _message):
        progress.append([value, total])

    callbacks = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
    async with streamable_http_client(wish["url"]) as (reader, writer, _):
        async with ClientSession(reader, writer, **(callbacks if wish["answers"] else {})) as session:
            server = await session.initialize()
            tools = await session.list_tools()
            result = await session.call_tool(wish["tool"], wish["arguments"], progress_callback=note)
    return {
        "server": server.serverInfo.name,
        "tools": [tool.name for tool in tools.tools],
        "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
        "progress": progress,
        "asked": asked,
    }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
