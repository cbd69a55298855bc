// Says of each line what JSON.parse takes it for.
import { TextDecoder } from "node:util";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const bytes = Buffer.concat(chunks);
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const text = (value) => (typeof value === "string" ? value.toWellFormed() : null);
const answers = [];
for (let start = 0; start < bytes.length; ) {
  const end = bytes.indexOf(10, start);
  let seen = { refused: true };
  try {
    const message = JSON.parse(decoder.decode(bytes.subarray(start, end)));
    if (message === null || typeof message !== "object" || Array.isArray(message)) throw new Error("no message");
    const has = (name) => Object.hasOwn(message, name);
    const params = has("params") && message.params !== null && typeof message.params === "object" ? message.params : {};
    const param = (name) => (Object.hasOwn(params, name) ? text(params[name]) : null);
    const id = has("id") && message.id !== null ? JSON.stringify(message.id) : null;
    const named = { name: param("name"), uri: param("uri"), taskid: param("taskId") };
    seen = { ...named, id, method: has("method") ? text(message.method) : null, result: has("result"), error: has("error") };
  } catch {}
  answers.push(JSON.stringify(seen));
  start = end + 1;
}
process.stdout.write(answers.join("\n") + "\n");
