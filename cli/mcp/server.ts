import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ListToolsRequestSchema, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { ApiError } from "../../client/errors.ts";
import { exitCodes, failureOf, notFound, usageFailure, type Failure } from "../failure.ts";
import { componentSchema, componentsPage, componentTypes, workflowsPage } from "../generated/documents.ts";
import { nearestName } from "../nearest-name.ts";
import { cutText, messageAnswer } from "./tools/answer.ts";
import { jsonSchemaOf, parseArguments } from "./tools/arguments.ts";
import { toolHintOf } from "./tools/hints.ts";
import { effectOf, effects, type Tool, type ToolContext } from "./tools/tool.ts";
import { offeredTools, tools } from "./tools/tools.ts";

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

const instructions =
  "Headwater runs components as sources and workflows, and delivers their events. Begin with problems to see what is wrong, with search to find an " +
  "event, line or error, with trace to see what led to it; with template, catalogue and validate to write something new. Lists are short: …" +
  " marks what is cut, next is the cursor of more. The resources have the types and pages of how to write components and workflows.";

/** With any arguments: the protocol's own schema drops some, such as `__proto__`, instead of refusing them. */
const callRequest = z.object({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});

interface ServerOptions {
  readonly mayWrite: boolean;
  readonly version: string;
  /** Tools read only files below it. */
  readonly directory: string;
}

/** A server of the Model Context Protocol with the operations of the command line as tools. */
export function createMcpServer(client: ToolContext["client"], { mayWrite, version, directory }: ServerOptions): McpServer {
  const mcp = new McpServer({ name: "headwater", version }, { instructions });
  const offered = offeredTools(mayWrite);
  mcp.server.registerCapabilities({ tools: {} });
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: offered.map((tool) => listed(tool, mayWrite)) }));
  mcp.server.setRequestHandler(callRequest, ({ params }) =>
    resultOf(async () => {
      const tool = toolNamed(params.name, offered);
      return tool.call({ client, directory, mayWrite }, parseArguments(tool, params.arguments));
    }),
  );
  for (const { name, title, mimeType, text } of documents) {
    mcp.registerResource(name, `headwater://docs/${name}`, { title, mimeType }, (uri) => ({
      contents: [{ uri: uri.href, mimeType, text }],
    }));
  }
  return mcp;
}

function listed(tool: Tool, mayWrite: boolean) {
  const { sentence, annotations } = effects[effectOf(tool, mayWrite)];
  return { name: tool.name, description: `${tool.description} ${sentence}`, inputSchema: jsonSchemaOf(tool), annotations };
}

/** @throws Failure for a name that is not offered */
function toolNamed(name: string, offered: readonly Tool[]): Tool {
  const found = offered.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  if (tools.some((tool) => tool.name === name))
    throw usageFailure(`the tool ${name} needs --write`, "start the server with `hw mcp --write`");
  const names = offered.map((tool) => tool.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? `tools are: ${names.join(", ")}` : `did you mean ${nearest}?`;
  throw notFound(`there is no tool ${JSON.stringify(cutText(name, 60))}`, hint);
}

/** An error is a result: the agent reads what failed, and what to do about it. */
async function resultOf(call: () => Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: await call() }] };
  } catch (error) {
    const failure = failureOf(error);
    const text = messageAnswer(`${codeOf(failure)}: ${failure.message}`, toolHintOf(failure));
    return { isError: true, content: [{ type: "text", text }] };
  }
}

/** The code of the API, or what an error of `hw` itself means. */
function codeOf({ cause, exitCode }: Failure): string {
  if (cause instanceof ApiError) return cause.code;
  if (exitCode === exitCodes.usage) return "invalid_arguments";
  if (exitCode === exitCodes.notFound) return "not_found";
  return exitCode === exitCodes.unreachable ? "unreachable" : "failed";
}
