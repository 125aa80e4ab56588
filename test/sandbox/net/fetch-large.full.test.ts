import { expect, it } from "vitest";
import { withSnippetServers } from "./snippet-servers.ts";

const net = withSnippetServers();

it("fetch streams a response of more than 32 MiB, up to 512 MiB", async () => {
  const answer = await net.snippets.evaluate(
    `let n = 0; try { for await (const c of (await fetch(${JSON.stringify(`${net.servers.http}/endless`)})).body) n += c.length; } catch (e) { return [e.name, e.cause?.code, n > 500 * 2 ** 20]; }`,
  );
  expect(answer).toEqual(["TypeError", "response_too_large", true]);
});
