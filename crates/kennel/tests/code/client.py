"""Runs cells by the official client, which finds out by itself what era to speak.

Standard input is a JSON object: `url`, or `command` with all its words; `steps`, each `[tool, arguments]`; and `answer`, the
content that forms are filled in with, after `thinks` seconds. Standard output is one: the tools, the results in their order, and what was asked.
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
        await asyncio.sleep(wish.get("thinks", 0))
        return ElicitResult(action="accept", content=wish.get("answer", {}))

    command = wish.get("command")
    server = StdioServerParameters(command=command[0], args=command[1:]) if command else wish["url"]
    async with Client(server, mode=wish.get("mode", "auto"), elicitation_callback=elicit) as client:
        tools = await client.list_tools()
        results = []
        for tool, arguments in wish["steps"]:
            result = await client.call_tool(tool, arguments)
            results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        resource = await client.read_resource("kennel://code/capabilities")
        return {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "results": results,
            "manual": resource.contents[0].text,
            "asked": asked,
        }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
