import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createClient } from "../../client/client.ts";
import { createMcpServer } from "../../cli/mcp/server.ts";
import type { Installation } from "./installation.ts";

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
}

export interface Agent {
  readonly client: Client;
  /** Method, path and body of each request to the API so far. */
  readonly requests: readonly string[];
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  /** The answer of a call that must succeed, as JSON; the caller names the expected type. */
  json<T>(name: string, args?: Readonly<Record<string, unknown>>): Promise<T>;
}

interface Settings {
  readonly mayWrite: boolean;
  /** By default the installation's. */
  readonly key?: string;
}

/** A client of the protocol and the server of `hw mcp`, in the process of the test; files are those of the installation's directory. */
export async function connectAgent(headwater: Installation, { mayWrite, key = headwater.key }: Settings): Promise<Agent> {
  const baseUrl = headwater.apiUrl.replace(/\/v1$/, "");
  const requests: string[] = [];
  const recorded: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    requests.push(`${init?.method ?? "GET"} ${pathname}${search} ${typeof init?.body === "string" ? init.body : ""}`.trimEnd());
    return fetch(input, init);
  };
  const api = createClient({ baseUrl, headers: () => ({ authorization: `Bearer ${key}` }), fetch: recorded });
  const server = createMcpServer(api, { mayWrite, version: "1.0.0", directory: headwater.world.directory });
  const [ofServer, ofClient] = InMemoryTransport.createLinkedPair();
  await server.connect(ofServer);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(ofClient);
  return agentOf(client, requests);
}

export function agentOf(client: Client, requests: readonly string[] = []): Agent {
  const call = async (name: string, args: Readonly<Record<string, unknown>> = {}): Promise<ToolAnswer> => {
    const { isError, content } = await client.callTool({ name, arguments: args });
    const [first] = content as readonly { text: string }[]; // Each tool returns one text.
    return { isError: isError === true, text: first?.text ?? "" };
  };
  return {
    client,
    requests,
    call,
    json: async <T>(name: string, args?: Readonly<Record<string, unknown>>) => {
      const { isError, text } = await call(name, args);
      if (isError) throw new Error(`${name} failed: ${text}`);
      return JSON.parse(text) as T; // The caller asserts the content.
    },
  };
}
