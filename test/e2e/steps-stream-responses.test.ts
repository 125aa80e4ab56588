import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGate, type Gate } from "../sandbox/gate.ts";
import { deploy } from "../support/system/sources.ts";
import { withSystem } from "../support/system/system.ts";
import { dataOf, endedRun, step } from "./support/workflow-steps.ts";

/** Bodies that callers read while the run that sends them goes on, through all processes with the rights of their roles. */
const headwater = withSystem();
let gate: Gate;
beforeAll(async () => {
  gate = await startGate();
});
afterAll(() => gate.stop());

interface Deployed {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

async function deployed(body: string): Promise<{ readonly id: string; readonly url: string }> {
  const workflow = {
    name: "Streams",
    triggers: [{ type: "http" }],
    steps: [step("answer", body), step("after", `return steps.answer.$return_value + 1;`)],
  };
  const { id, triggers } = await dataOf<Deployed>(headwater, "POST", "/workflows", workflow);
  return { id, url: triggers[0]?.endpoint_url ?? "" };
}

describe("a step that streams its response", () => {
  it("sends server-sent events while it goes on, and the run ends behind them", async () => {
    gate.close();
    const { id, url } = await deployed(`let n = 0;
      await $.respond({ status: 200, headers: { "content-type": "text/event-stream" }, body: (async function* () {
        yield "data: " + ++n + "\\n\\n"; await fetch("${gate.url}"); yield "data: " + ++n + "\\n\\n"; })() });
      return n;`);
    const response = await fetch(url);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const reader = response.body?.getReader() ?? expect.unreachable();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("data: 1\n\n");
    // The step waits for this, so the first event has come before the second one exists.
    gate.open();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("data: 2\n\n");
    expect((await reader.read()).done).toBe(true);
    const run = await endedRun(headwater, id);
    expect([run.status, run.steps.map(({ return_value }) => return_value)]).toEqual(["succeeded", [2, 3]]);
  });

  it("sends a file of 8 MiB that it has written, unchanged", async () => {
    const { url } = await deployed(`const fs = require("fs"); const bytes = Buffer.alloc(8 * 2 ** 20, "0123456789abcdef");
      fs.writeFileSync("/tmp/large", bytes); await $.respond({ status: 200, body: fs.createReadStream("/tmp/large") }); return 0;`);
    const body = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(body.equals(Buffer.alloc(8 * 2 ** 20, "0123456789abcdef"))).toBe(true);
  });

  it("that fails in the middle ends the response so that its caller sees that it is not whole", async () => {
    const { id, url } = await deployed(
      `await $.respond({ status: 200, body: (async function* () { yield "half"; throw new Error("broken"); })() });`,
    );
    const response = await fetch(url);
    await expect(response.text()).rejects.toThrow();
    expect((await endedRun(headwater, id)).status).toBe("failed");
  });

  it("goes on, with the same result, when its caller leaves", async () => {
    gate.close();
    const { id, url } = await deployed(`let n = 0;
      await $.respond({ status: 200, body: (async function* () { yield "first"; await fetch("${gate.url}"); while (n < 20) { n++; yield "x".repeat(1e6); } })() });
      return n;`);
    const abort = new AbortController();
    const response = await fetch(url, { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    gate.open();
    const run = await endedRun(headwater, id);
    expect([run.status, run.steps.map(({ return_value }) => return_value)]).toEqual(["succeeded", [20, 21]]);
  });
});

it("a source streams its response", async () => {
  const code = `export default { name: "Streams", version: "1.0.0", props: { http: { type: "$.interface.http", customResponse: true } },
    async run() { await this.http.respond({ status: 200, body: new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } }) }); this.$emit({ sent: true }); } };`;
  const source = await deploy(headwater, code);
  expect(await (await fetch(source.endpoint)).text()).toBe("ab");
});
