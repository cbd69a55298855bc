// Uses one MCP server by the official client, which finds out by itself what era to speak.
//
// The argument is the directory of the package. Standard input and output are those of `client.py`; the era is in the
// output as well.
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [directory] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(`${directory}/dist/index.mjs`));
const { StdioClientTransport } = await import(pathToFileURL(`${directory}/dist/stdio.mjs`));

const wish = JSON.parse(await text(process.stdin));
const asked = [];
const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler("elicitation/create", async (request) => {
    asked.push(request.params.message);
    return { action: "accept", content: wish.answer };
});
const [command, ...args] = wish.command ?? [];
const transport = command
    ? new StdioClientTransport({ command, args, stderr: "ignore" })
    : new StreamableHTTPClientTransport(new URL(wish.url));
await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: wish.tool, arguments: wish.arguments });
const seen = {
    version: client.getNegotiatedProtocolVersion(),
    era: client.getProtocolEra(),
    server: client.getServerVersion().name,
    tools: tools.map((tool) => tool.name),
    result,
    asked,
};
await client.close();
console.log(JSON.stringify(seen));
