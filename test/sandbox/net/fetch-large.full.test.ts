import { afterAll, beforeAll, expect, it } from "vitest";
import { type Snippets, startSnippets } from "../web-support.ts";
import { startServers, type TestServers } from "./servers.ts";

let servers: TestServers;
let snippets: Snippets;
beforeAll(async () => {
  servers = await startServers();
  snippets = await startSnippets();
});
afterAll(async () => {
  await snippets.stop();
  await servers.close();
});

it("fetch streams a response of more than 32 MiB, up to 512 MiB", async () => {
  const answer = await snippets.evaluate(
    `let n = 0; try { for await (const c of (await fetch(${JSON.stringify(`${servers.http}/endless`)})).body) n += c.length; } catch (e) { return [e.name, e.cause?.code, n > 500 * 2 ** 20]; }`,
  );
  expect(answer).toEqual(["TypeError", "response_too_large", true]);
});
