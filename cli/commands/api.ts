import type { Definition } from "../command.ts";
import { jsonOf } from "../values.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export const command: Definition = {
  description: "Sends a request to any path of the API, with your key, and prints the body of the response.",
  arguments: [
    { name: "<method>", description: "GET, POST, PUT or DELETE" },
    { name: "<path>", description: "path with its query, such as /v1/users/me; /v1 may be left out" },
  ],
  options: [{ flags: "-d, --data <json>", description: "body as JSON, or @file; @- is standard input" }],
  examples: [
    { command: "hw api GET /users/me", does: "Show what the API answers." },
    { command: 'hw api POST "/webhooks?url=https://example.com/"', does: "Send a request without a body." },
  ],
  operations: [],
  run: async ({ client, out }, given) => {
    const method = given.required("method").toUpperCase();
    if (!methods.some((each) => each === method)) out.note(`hw: ${method} is no method of the API: ${methods.join(", ")}`);
    const data = given.text("data");
    const { text } = await client.request(
      method,
      fullPath(given.required("path")),
      data === undefined ? undefined : await jsonOf(data, "--data"),
    );
    if (text.trim() === "") return;
    await (out.format === "yaml" ? out.document(JSON.parse(text), () => []) : out.exact(`${text.trimEnd()}\n`));
  },
};

function fullPath(path: string): string {
  const absolute = path.startsWith("/") ? path : `/${path}`;
  return /^\/(v1|admin|healthz|readyz|metrics|sse)(\/|$|\?)/.test(absolute) ? absolute : `/v1${absolute}`;
}
