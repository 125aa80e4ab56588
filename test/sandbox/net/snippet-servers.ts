import { afterAll, beforeAll, expect } from "vitest";
import { type Snippets, startSnippets } from "../web-support.ts";
import { startServers, type TestServers } from "./servers.ts";

/** Servers of the test, and snippets of code that reach them from the sandbox, while the file runs. */
export function withSnippetServers(): { readonly servers: TestServers; readonly snippets: Snippets } {
  let servers: TestServers | undefined;
  let snippets: Snippets | undefined;
  beforeAll(async () => {
    servers = await startServers();
    snippets = await startSnippets();
  });
  afterAll(async () => {
    await snippets?.stop();
    await servers?.close();
  });
  return {
    get servers() {
      return servers ?? expect.unreachable("the servers have not started");
    },
    get snippets() {
      return snippets ?? expect.unreachable("the sandbox has not started");
    },
  };
}
