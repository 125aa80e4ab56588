import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BodyPiece, HttpResponse } from "../../../domain/run-products.ts";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { startGate, type Gate } from "../gate.ts";
import { ended, errorOf, requestFor, type SandboxFixture, shareSandbox } from "../sandbox-fixture.ts";
import { returned, stepRequest } from "./action-support.ts";

let fixture: SandboxFixture;
let gate: Gate;
beforeAll(async () => {
  [fixture, gate] = await Promise.all([shareSandbox(), startGate()]);
});
afterAll(async () => {
  gate.stop();
  await fixture.stop();
});

interface Answered {
  readonly execution: Execution;
  readonly heads: readonly HttpResponse[];
  readonly pieces: readonly BodyPiece[];
  /** Undefined: the body is not whole. */
  readonly body: string | undefined;
}

/** Runs code with a caller who takes a number of pieces. */
async function answered(code: string, isAction: boolean, taken = Infinity): Promise<Answered> {
  const heads: HttpResponse[] = [];
  const pieces: BodyPiece[] = [];
  const request = requestFor(await fixture.bundle(code), isAction ? stepRequest({}) : {});
  const execution = await fixture.sandbox.execute(request, (response) => {
    heads.push(response);
    return async (piece) => pieces.length < taken && pieces.push(piece) > 0;
  });
  const bytes = Buffer.concat(pieces.map(({ base64 }) => Buffer.from(base64, "base64")));
  return { execution, heads, pieces, body: pieces.at(-1)?.isLast === true ? bytes.toString() : undefined };
}

const respond = (body: string, taken?: number): Promise<Answered> =>
  answered(`export default { name: "a", type: "action", version: "1.0.0", async run({ steps, $ }) { ${body} } }`, true, taken);

describe("`$.respond` with a stream as its body", () => {
  it.each([
    ["an async generator", `(async function* () { yield "a"; yield Buffer.from("b"); yield new Uint8Array([99]).buffer; })()`],
    ["a ReadableStream", `new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue(new TextEncoder().encode("bc")); c.close(); } })`],
    ["a Readable of Node", `require("stream").Readable.from(["a", "b", "c"])`],
    [
      "a PassThrough that is still written",
      `(() => { const s = new (require("stream").PassThrough)(); s.write("a"); setTimeout(() => s.end("bc"), 5); return s; })()`,
    ],
    ["a Blob", `new Blob(["a", "bc"])`],
    ["a Response", `new Response("abc")`],
  ])("sends %s", async (_, stream) => {
    const { execution, heads, body } = await respond(
      `await $.respond({ status: 201, headers: { "x-a": "1" }, body: ${stream} }); return 1;`,
    );
    expect(returned(execution)).toBe(1);
    expect(heads).toEqual([{ status: 201, headers: { "x-a": "1" }, body: "", isStreamed: true }]);
    expect(body).toBe("abc");
    expect(ended(execution).response).toBeNull();
  });

  it("sends the head and each chunk at once, while the step goes on", async () => {
    const code = `export default { name: "a", type: "action", version: "1.0.0", async run({ $ }) { await $.respond({ status: 200, body: (async function* () { yield "first"; await fetch("${gate.url}"); yield "second"; })() }); } }`;
    const seen: string[] = [];
    const request = requestFor(await fixture.bundle(code), stepRequest({}));
    const execution = await fixture.sandbox.execute(request, () => async ({ base64 }) => {
      seen.push(Buffer.from(base64, "base64").toString());
      gate.open(); // So the step can end only if this piece has come before.
      return true;
    });
    expect(execution.outcome).toBe("returned");
    expect(seen).toEqual(["first", "second", ""]);
  });

  it("is sent to its end also if the step does not wait for it", async () => {
    const { execution, body } = await respond(
      `$.respond({ status: 200, body: new ReadableStream({ async pull(c) { await new Promise((r) => setTimeout(r, 5)); c.enqueue("late"); c.close(); } }) });`,
    );
    expect(execution.outcome).toBe("returned");
    expect(body).toBe("late");
    expect(ended(execution).logs).toEqual([]);
  });

  it("is split into pieces, whose order is that of the bytes, and may be larger than any message", async () => {
    const mebibytes = 80; // More than a run may send otherwise.
    const { execution, pieces, body } = await respond(`const block = new Uint8Array(2 ** 20); let n = 0;
      await $.respond({ status: 200, body: (async function* () { while (n < ${mebibytes}) { block[0] = n++; yield block; } })() }); return n;`);
    expect(returned(execution)).toBe(mebibytes);
    expect(body?.length).toBe(mebibytes * 2 ** 20);
    expect([...Array(mebibytes).keys()].every((n) => body?.charCodeAt(n * 2 ** 20) === n)).toBe(true);
    expect(pieces.map(({ index }) => index)).toEqual(pieces.map((_, at) => at));
  });

  it("is read to its end if the caller leaves: the run does not depend on that", async () => {
    const { execution, pieces } = await respond(
      `let n = 0; await $.respond({ status: 200, body: (async function* () { while (n < 50) yield String(n++); })() }); return n;`,
      3,
    );
    expect(pieces).toHaveLength(3);
    expect(returned(execution)).toBe(50);
  });

  it("is read to its end if no caller waits for an answer", async () => {
    const code = `export default { name: "a", type: "action", version: "1.0.0", async run({ $ }) { await $.respond({ status: 200, body: new Blob(["x"]) }); return "ran"; } }`;
    expect(returned(await fixture.run(code, stepRequest({})))).toBe("ran");
  });

  it.each([
    ["throws", `(async function* () { yield "a"; throw new Error("the source broke"); })()`, /the source broke/],
    [
      "yields what is neither text nor bytes",
      `(async function* () { yield "a"; yield { b: 1 }; })()`,
      /must be a text or bytes, got \{ b: 1 \}/,
    ],
  ])("that %s fails the step, and its body is not whole", async (_, stream, message) => {
    for (const waits of ["await", ""]) {
      const { execution, heads, body } = await respond(`${waits} $.respond({ status: 200, body: ${stream} });`);
      expect(errorOf(execution)).toMatchObject({ outcome: "threw", message: expect.stringMatching(message) as string });
      expect(heads).toHaveLength(1);
      expect(body).toBeUndefined();
    }
  });

  it.each([
    ["a stream that cannot be iterated", `{ pipe() {} }`, /cannot be read by `for await`/],
    ["a promise", `Promise.resolve("x")`, /is a promise; await it first/],
  ])("refuses %s", async (_, body, message) => {
    const { execution, heads } = await respond(`await $.respond({ status: 200, body: ${body} });`);
    expect(errorOf(execution)).toMatchObject({
      outcome: "threw",
      code: "invalid_response",
      message: expect.stringMatching(message) as string,
    });
    expect(heads).toEqual([]);
  });

  it("whose error is caught does not fail the step", async () => {
    const { execution, body } = await respond(
      `try { await $.respond({ status: 200, body: (async function* () { yield "a"; throw new Error("x"); })() }); } catch (error) { return error.message; }`,
    );
    expect(returned(execution)).toBe("x");
    expect(body).toBeUndefined();
  });

  it("joins small chunks that come while a piece is on its way", async () => {
    const chunks = 20_000;
    const { pieces, body } = await respond(
      `await $.respond({ status: 200, body: (async function* () { for (let n = 0; n < ${chunks}; n++) yield "token "; })() });`,
    );
    expect(body).toBe("token ".repeat(chunks));
    expect(pieces.length).toBeLessThan(chunks / 10);
  });

  it("is the only response of a run", async () => {
    const { execution } = await respond(`await $.respond({ status: 200, body: new Blob([]) }); await $.respond({ status: 200 });`);
    expect(errorOf(execution)).toMatchObject({ outcome: "threw", code: "already_responded" });
  });
});

describe("`respond` of a source with a stream as its body", () => {
  const code = (body: string): string =>
    `export default { name: "c", version: "1.0.0", props: { http: "$.interface.http" }, async run() { ${body} } }`;

  it("of two props sends the first one only", async () => {
    const both = `export default { name: "c", version: "1.0.0", props: { a: "$.interface.http", b: "$.interface.http" }, async run() {
      const body = (name) => (async function* () { for (let n = 0; n < 3; n++) { yield name + n + " "; await new Promise((r) => setTimeout(r, 2)); } })();
      await Promise.all([this.a.respond({ status: 200, body: body("a") }), this.b.respond({ status: 200, body: body("b") })]); return "ran"; } }`;
    const { execution, body } = await answered(both, false);
    expect(execution.outcome).toBe("returned");
    expect(body).toBe("a0 a1 a2 ");
  });

  it("does not reach the caller of a later run in the same context", async () => {
    const left = code(`globalThis.gate ??= (() => { let open; const opened = new Promise((r) => (open = r)); return { opened, open }; })();
      if (globalThis.runs++ === undefined || Number.isNaN(globalThis.runs)) {
        globalThis.runs = 1;
        this.http.respond({ status: 200, body: (async function* () { await gate.opened; yield "of the first caller"; })() });
        throw new Error("ended");
      }
      await this.http.respond({ status: 200, body: (async function* () { yield "a"; gate.open(); await new Promise((r) => setTimeout(r, 10)); yield "b"; })() });`);
    const bundle = await fixture.bundle(left);
    const bodies: string[] = [];
    for (const run of [0, 1]) {
      await fixture.sandbox.execute(requestFor(bundle, { source: "dc_left" }), () => {
        bodies[run] ??= "";
        return async ({ base64, isLast }) => {
          bodies[run] += Buffer.from(base64, "base64").toString() + (isLast ? "." : "");
          return true;
        };
      });
    }
    expect(bodies).toEqual(["", "ab."]);
  });

  it("sends it, and the run waits for its end", async () => {
    const { execution, heads, body } = await answered(
      code(
        `this.http.respond({ status: 200, body: (async function* () { yield "data: 1\\n\\n"; await new Promise((r) => setTimeout(r, 5)); yield "data: 2\\n\\n"; })() }); return 1;`,
      ),
      false,
    );
    expect(execution.outcome).toBe("returned");
    expect(heads).toMatchObject([{ status: 200, isStreamed: true }]);
    expect(body).toBe("data: 1\n\ndata: 2\n\n");
  });
});
