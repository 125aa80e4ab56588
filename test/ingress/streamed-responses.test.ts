import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { waitUntil } from "../../domain/retry.ts";
import { maxPieceBytes } from "../../domain/run-products.ts";
import { type ServedIngress, withIngress } from "./served-ingress.ts";

const serve = withIngress();
const head = { status: 200, headers: { "content-type": "text/event-stream" }, body: "", isStreamed: true };
const piece = (index: number, text: string, end?: "whole" | "cut") => ({
  stream: "s",
  index,
  base64: Buffer.from(text).toString("base64"),
  ...(end && { end }),
});

/** A request that waits for the response of the run `r_0`. */
async function ask(served: ServedIngress, init: RequestInit = {}): Promise<{ readonly response: Promise<Response> }> {
  const response = fetch(served.url("/custom1"), init);
  response.catch(() => undefined);
  expect(await waitUntil(() => served.stored.length === 1, 120_000)).toBe(true);
  return { response };
}
const begin = (served: ServedIngress, response = head): void => served.answer("r_0", { kind: "response", response, stream: "s" });

describe("a streamed response", () => {
  it("begins with its head, and each piece is read before the next one is sent", async () => {
    const served = await serve();
    const asked = await ask(served);
    begin(served);
    const response = await asked.response;
    expect([response.status, response.headers.get("content-type"), response.headers.get("content-length")]).toEqual([
      200,
      "text/event-stream",
      null,
    ]);
    const reader = response.body?.getReader() ?? expect.unreachable();
    for (const [index, text] of ["one", "two"].entries()) {
      expect(await served.send("r_0", piece(index, text))).toBe(true);
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(text);
    }
    expect(await served.send("r_0", piece(2, "", "whole"))).toBe(true);
    expect((await reader.read()).done).toBe(true);
    expect(await served.send("r_0", piece(3, "late"))).toBe(false);
  });

  it("may come together with its first piece", async () => {
    const served = await serve();
    const asked = await ask(served);
    begin(served);
    expect(await served.send("r_0", piece(0, "whole", "whole"))).toBe(true);
    expect(await (await asked.response).text()).toBe("whole");
  });

  it.each([
    ["the run cuts it", [piece(1, "", "cut")]],
    ["a piece is missing", [piece(2, "b")]],
    ["a piece comes twice", [piece(0, "a")]],
    ["a piece is too large", [piece(1, "x".repeat(maxPieceBytes + 1))]],
  ])("is not ended as if it were whole when %s", async (_, rest) => {
    const served = await serve();
    const asked = await ask(served);
    begin(served);
    expect(await served.send("r_0", piece(0, "a"))).toBe(true);
    for (const each of rest) expect(await served.send("r_0", each)).toBe(false);
    await expect(asked.response.then((response) => response.text())).rejects.toThrow();
    expect(await served.send("r_0", piece(1, "b"))).toBe(false);
  });

  it("is cut when its run ends first: the attempt that sent it has died", async () => {
    const served = await serve();
    const asked = await ask(served);
    begin(served);
    expect(await served.send("r_0", piece(0, "a"))).toBe(true);
    served.answer("r_0", { kind: "response", response: head, stream: "repeated" });
    served.answer("r_0", { kind: "run", run: { error: null } as never }); // All that is read of it.
    await expect(asked.response.then((response) => response.text())).rejects.toThrow();
  });

  it("that is cut resets a connection of HTTP/1.0, where the end of the connection is the end of the body", async () => {
    const served = await serve();
    const socket = connect(served.port, "127.0.0.1");
    const failed = once(socket, "error");
    failed.catch(() => undefined);
    socket.resume().write("GET /custom1 HTTP/1.0\r\nHost: a\r\n\r\n");
    await waitUntil(() => served.stored.length === 1, 120_000);
    begin(served);
    expect(await served.send("r_0", piece(0, "a"))).toBe(true);
    expect(await served.send("r_0", piece(1, "", "cut"))).toBe(false);
    expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
  });

  it("ignores pieces of another response of the run", async () => {
    const served = await serve();
    const asked = await ask(served);
    begin(served);
    served.answer("r_0", { kind: "response", response: head, stream: "other" });
    expect(await served.send("r_0", { ...piece(0, "not this"), stream: "other" })).toBe(false);
    expect(await served.send("r_0", piece(0, "this", "whole"))).toBe(true);
    expect(await (await asked.response).text()).toBe("this");
  });

  it("is refused from then on when the caller has left, between two pieces too", async () => {
    const served = await serve();
    const abort = new AbortController();
    const asked = await ask(served, { signal: abort.signal });
    begin(served);
    expect(await served.send("r_0", piece(0, "a"))).toBe(true);
    await asked.response;
    abort.abort();
    let index = 1;
    expect(await waitUntil(async () => !(await served.send("r_0", piece(index++, "b"))), 120_000)).toBe(true);
  });

  it("waits for a caller who does not read, with no more than a piece in memory, and ends when that takes too long", async () => {
    const served = await serve({ requestTimeoutMs: 300, minTransferRate: 2 ** 30 });
    const socket = connect(served.port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined);
    socket.write("GET /custom1 HTTP/1.1\r\nHost: a\r\n\r\n");
    await waitUntil(() => served.stored.length === 1, 120_000);
    begin(served);
    let taken = 0;
    // The buffers of the kernel take the first ones.
    while (await served.send("r_0", piece(taken, "x".repeat(maxPieceBytes)))) taken++;
    expect(taken).toBeLessThan(200);
    socket.resume();
    await once(socket, "close");
  });

  it("without a body ends with its head", async () => {
    for (const [status, method] of [
      [204, "GET"],
      [200, "HEAD"],
    ] as const) {
      const served = await serve();
      const asked = await ask(served, { method });
      begin(served, { ...head, status });
      const response = await asked.response;
      expect([response.status, await response.text()]).toEqual([status, ""]);
      expect(await served.send("r_0", piece(0, "a"))).toBe(false);
    }
  });

  it("with a head that HTTP does not allow is an error", async () => {
    const served = await serve();
    const asked = await ask(served);
    begin(served, { ...head, status: 99 });
    expect((await asked.response).status).toBe(500);
    expect(await served.send("r_0", piece(0, "a"))).toBe(false);
  });
});
