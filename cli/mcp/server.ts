import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Client } from "../../client/client.ts";
import { rejectionOf } from "../component/rejection.ts";
import { failureOf } from "../failure.ts";
import { componentSchema, componentsPage, componentTypes, workflowsPage } from "../generated/documents.ts";
import { nearestName } from "../nearest-name.ts";
import { toolsFor } from "./tools.ts";

interface Document {
  readonly name: string;
  readonly title: string;
  readonly mimeType: string;
  readonly text: string;
}

const documents: readonly Document[] = [
  { name: "types", title: "Types of components: headwater/types", mimeType: "text/typescript", text: componentTypes },
  { name: "component-schema", title: "Format of a component as JSON Schema", mimeType: "application/schema+json", text: componentSchema },
  { name: "components", title: "How to write components", mimeType: "text/markdown", text: componentsPage },
  { name: "workflows", title: "How to write workflows", mimeType: "text/markdown", text: workflowsPage },
];

/** A server of the Model Context Protocol with the verbs of the command line as tools. */
export function createMcpServer(
  client: Client,
  { mayWrite, version }: { readonly mayWrite: boolean; readonly version: string },
): McpServer {
  const server = new McpServer({ name: "headwater", version });
  for (const { name, description, input, writes, call } of toolsFor(mayWrite)) {
    const annotations = { readOnlyHint: !writes, destructiveHint: writes };
    const inputSchema = strictInput(name, input);
    server.registerTool(name, { description, inputSchema, annotations }, (given: Readonly<Record<string, unknown>>) =>
      resultOf(() => call(client, given)),
    );
  }
  for (const { name, title, mimeType, text } of documents) {
    server.registerResource(name, `headwater://docs/${name}`, { title, mimeType }, (uri) => ({
      contents: [{ uri: uri.href, mimeType, text }],
    }));
  }
  return server;
}

/** Refuses unknown arguments: without `dry_run`, which a tool may not have, a call would do something else than the agent means. */
function strictInput(tool: string, input: z.ZodRawShape): z.ZodObject {
  const names = Object.keys(input);
  return z.strictObject(input, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return undefined;
      const keys: readonly string[] = Array.isArray(issue["keys"]) ? issue["keys"] : [];
      return keys.map((key) => `${tool} has no argument "${key}": ${nearestOrAll(key, names)}`).join("; ");
    },
  });
}

function nearestOrAll(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? `its arguments are ${names.join(", ")}` : `did you mean ${nearest}?`;
}

/** An error is a result: the agent reads what failed, and what to do about it. */
async function resultOf(call: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: JSON.stringify(await call(), null, 2) ?? "done" }] };
  } catch (error) {
    const { message, hint } = failureOf(rejectionOf(error));
    return { isError: true, content: [{ type: "text", text: hint === undefined ? message : `${message}\n${hint}` }] };
  }
}
