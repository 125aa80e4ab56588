import type { Definition } from "../command.ts";
import { Failure } from "../failure.ts";
import own from "../package.json" with { type: "json" };

const maxNoteLength = 300;

export const command: Definition = {
  description:
    "Serves the commands as tools over the Model Context Protocol, on standard input and output: a coding agent sees what is wrong, lists, searches and " +
    "traces, reads events, logs, runs, deliveries and metrics, finds components and templates, and validates code. With --write it also tries code " +
    "without storing anything, deploys, updates, runs, repeats and redelivers. Types and documentation are resources. docs/agents.md lists the tools.",
  options: [{ flags: "--write", description: "allow tools that change something or run code; by default it is read-only" }],
  examples: [{ command: "hw mcp --write", does: "The command for the configuration of a coding agent.", isInert: true }],
  operations: [
    ...(["listMySources", "listMyWorkflows", "listComponents", "listMyWebhooks", "listMySubscriptions"] as const),
    ...(["listMyAutoSubscriptions", "listMyAccounts", "listApps", "listMyOAuthClients", "listVariables"] as const),
    ...(["listDataStores", "getMe", "listKeys", "listRegistry", "getSource"] as const),
    ...(["getWorkflow", "getComponent", "getWebhook", "getAccount", "getApp"] as const),
    ...(["getOAuthClient", "getDataStore", "getOrganization", "listDeadLetters", "listEvents"] as const),
    ...(["listWorkflowEvents", "listLogs", "listWorkflowLogs", "listRuns", "getRun"] as const),
    ...(["listWorkflowRuns", "getWorkflowRun", "search", "getTrace", "getSourceMetrics"] as const),
    ...(["getWorkflowMetrics", "getWebhookMetrics", "getMyMetrics", "listAttempts", "listSendAttempts"] as const),
    ...(["listFailedSends", "retryDelivery", "redriveDeadLetters", "searchComponentDetails", "searchConnectors"] as const),
    ...(["listPackageComponents", "saveComponent", "listComponentProps", "listSourceProps", "listStepProps"] as const),
    ...(["listComponentOptions", "listSourceOptions", "listStepOptions", "testSource", "runSource"] as const),
    ...(["testWorkflow", "createSource", "getPublishedComponent", "createWorkflow", "updateSource"] as const),
    ...(["updateWorkflow", "runWorkflow", "replayEvents", "repeatWorkflowRun", "cancelWorkflowRun"] as const),
    ...(["updateWebhook", "pauseWorkflowRun", "resumeWorkflowRun"] as const),
  ],
  run: async ({ client, directory, out, signal }, given) => {
    const [{ StdioServerTransport }, { createMcpServer }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("../mcp/server.ts"),
    ]);
    const { server } = createMcpServer(client, { mayWrite: given.flag("write"), version: own.version, directory });
    let lastError = "";
    server.onerror = ({ message }) => {
      lastError = message.slice(0, maxNoteLength);
      out.note(`hw mcp: ${lastError}`);
    };
    const ended = new Promise<void>((resolve, reject) => {
      process.stdin.on("end", resolve);
      signal.addEventListener("abort", () => resolve());
      // The transport closes itself after a message that is too large.
      server.onclose = () => reject(new Failure(`the connection is closed: ${lastError}`));
    });
    await server.connect(new StdioServerTransport());
    await ended;
    await server.close();
  },
};
