import type { Definition } from "../command.ts";
import own from "../package.json" with { type: "json" };

export const command: Definition = {
  description:
    "Serves the commands as tools over the Model Context Protocol, on standard input and output: a coding agent lists and searches, reads events, logs and " +
    "runs, and validates components. With --write it also deploys, updates, runs and replays. Types and documentation are resources.",
  options: [{ flags: "--write", description: "allow tools that change something; by default it is read-only" }],
  examples: [{ command: "hw mcp --write", does: "The command for the configuration of a coding agent.", isInert: true }],
  operations: [
    ...(["listMySources", "getSource", "listEvents", "listLogs", "listRuns", "getRun", "search", "saveComponent"] as const),
    ...(["createSource", "updateSource", "runSource", "runWorkflow", "replayEvents"] as const),
  ],
  run: async ({ client, signal }, given) => {
    const [{ StdioServerTransport }, { createMcpServer }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("../mcp/server.ts"),
    ]);
    const server = createMcpServer(client, { mayWrite: given.flag("write"), version: own.version });
    const ended = new Promise<void>((resolve) => {
      process.stdin.on("end", resolve);
      signal.addEventListener("abort", () => resolve());
    });
    await server.connect(new StdioServerTransport());
    await ended;
    await server.close();
  },
};
