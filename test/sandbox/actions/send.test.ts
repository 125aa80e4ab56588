import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendKinds } from "../../../domain/workflow/run-state.ts";
import { parseSendArgument } from "../../../domain/workflow/send-arguments.ts";
import { errorOf, type SandboxFixture, shareSandbox } from "../sandbox-fixture.ts";
import { actionOf, runBody, sendsOf } from "./action-support.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

describe("$.send", () => {
  it("records '`$.send.http`, `$.send.email`, `$.send.s3`, `$.send.emit`, and `$.send.sse`' in order, with their times", async () => {
    const before = Date.now();
    const execution = await runBody(
      fixture,
      `$.send.http({ url: "https://e/" }); $.send.email({ subject: "s", text: "t" }); $.send.s3({ bucket: "logs", prefix: "p", payload: 1 });
       $.send.emit({ raw_event: 1 }); $.send.sse({ channel: "c", payload: 1 });`,
    );
    expect(sendsOf(execution).map(([kind]) => kind)).toEqual(["http", "email", "s3", "emit", "sse"]);
    for (const { at } of actionOf(execution).sends) expect(at).toBeGreaterThanOrEqual(before);
  });

  it("takes the argument as it is at the call", async () => {
    const body = `const payload = { a: 1 }; $.send.sse({ channel: "c", payload }); payload.a = 2; $.send.sse({ channel: "c", payload });`;
    expect(sendsOf(await runBody(fixture, body)).map(([, argument]) => argument)).toEqual([
      { channel: "c", payload: { a: 1 } },
      { channel: "c", payload: { a: 2 } },
    ]);
  });

  it.each([
    [
      `http({ url: "https://e/x?a=1", params: { b: "ö", c: [1, 2], d: null } })`,
      { method: "GET", url: "https://e/x?a=1&b=%C3%B6&c=1&c=2", headers: {} },
    ],
    [
      `http({ method: "post", url: "http://e/", data: { a: 1 }, headers: { "x-a": 1 }, auth: { username: "u", password: "p" } })`,
      { method: "POST", url: "http://e/", headers: { "x-a": "1", authorization: "Basic dTpw" }, data: { a: 1 } },
    ],
    [`email({ subject: "s", html: "<b>", include_collaborators: true })`, { subject: "s", html: "<b>", include_collaborators: true }],
    [`s3({ bucket: "my-logs", payload: [1] })`, { bucket: "my-logs", prefix: "", payload: [1] }],
    [`sse({ channel: "c", payload: null })`, { channel: "c", payload: null }],
    [`emit({ raw_event: { a: 1 } })`, { raw_event: { a: 1 } }],
    [`emit({ raw_event: { a: 1 }, name: "orders" })`, { name: "orders", raw_event: { a: 1 } }],
    [`emit({ raw_event: 1, event_name: "orders" })`, { name: "orders", raw_event: 1 }],
    [
      `emit({ raw_event: 1, metadata: { id: 7, summary: "s", ts: 5, name: "n" } })`,
      { name: "n", summary: "s", id: "7", ts: 5, raw_event: 1 },
    ],
    [`emit({ name: "Ada", age: 3 })`, { raw_event: { name: "Ada", age: 3 } }],
    [`emit("text")`, { raw_event: "text" }],
    [`emit()`, { raw_event: null }],
  ])("%s records %j", async (call, argument) => {
    const execution = await runBody(fixture, `$.send.${call};`);
    expect(sendsOf(execution)).toEqual([[call.split("(")[0], argument]]);
  });

  it.each([
    `http()`,
    `http({ url: "ftp://e/" })`,
    `http({ url: "nowhere" })`,
    `http({ url: "https://e/", method: "GET IT" })`,
    `http({ url: "https://e/", headers: { "a b": "c" } })`,
    `http({ url: "https://e/", headers: { a: "b\\nc" } })`,
    `http({ url: "https://e/", data: 1n })`,
    `email({ text: "no subject" })`,
    `email({ subject: "two\\r\\nBcc: all@e" })`,
    `email({ subject: "s", html: 1 })`,
    `s3({ bucket: "A/../b", payload: 1 })`,
    `s3({ bucket: "logs" })`,
    `s3({ bucket: "logs", prefix: 1, payload: 1 })`,
    `sse({ payload: 1 })`,
    `sse({ channel: "c" })`,
    `sse([])`,
  ])("%s fails the step with an error that names the call", async (call) => {
    const { outcome, code, message } = errorOf(await runBody(fixture, `$.send.${call};`));
    expect({ outcome, code }).toEqual({ outcome: "threw", code: "invalid_send" });
    expect(message).toContain(`$.send.${call.split("(")[0]}() (call 1 of this step)`);
  });

  it.each([
    [`$.send.emit({ raw_event: 1, name: "$errors" })`, "reserved_channel"],
    [`$.send.sse({ channel: "$logs", payload: 1 })`, "reserved_channel"],
    [`$.send.emit({ raw_event: 1, name: "x".repeat(2000) })`, "invalid_emit_name"],
    [`$.send.emit({ raw_event: 1, id: {} })`, "invalid_emit_id"],
    [`$.send.emit({ raw_event: "x".repeat(1_100_000) })`, "emit_too_large"],
    [`$.send.emit({ raw_event: () => 1 })`, "emit_not_json"],
    [`$.send.sse({ channel: "c", payload: "x".repeat(1_100_000) })`, "send_too_large"],
    [`for (let i = 0; i < 20_000; i++) $.send.emit(i)`, "send_limit"],
    [`for (let i = 0; i < 101; i++) $.send.email({ subject: "Hello" })`, "send_limit"],
  ])("%s fails by the limits of emits", async (body, code) => {
    expect(errorOf(await runBody(fixture, body))).toMatchObject({ outcome: "threw", code });
  });

  it("ends a step that sends more than 6 MiB, or deeper than 1,000 levels", async () => {
    const many = `for (let i = 0; i < 10; i++) $.send.emit("x".repeat(1_000_000));`;
    expect(errorOf(await runBody(fixture, many))).toMatchObject({ outcome: "limited", code: "step_too_large" });
    const deep = `let a = 1; for (let i = 0; i < 2000; i++) a = [a]; $.send.emit(a);`;
    expect(errorOf(await runBody(fixture, deep))).toMatchObject({ outcome: "limited", code: "send_too_large" });
  });

  it("leaves out what a step wanted to send that then fails or meets a limit", async () => {
    expect(sendsOf(await runBody(fixture, `$.send.emit(1); throw new Error("x");`))).toEqual([]);
    const limited = await runBody(fixture, `$.send.emit(1); for (;;);`, { request: { limits: { timeoutMs: 200 } } });
    expect(limited.outcome).toBe("limited");
    expect(sendsOf(limited)).toEqual([]);
  });
});

describe("parseSendArgument", () => {
  it.each([
    ["http", `{"method":"GET","url":"file:///etc/passwd","headers":{}}`],
    ["http", `{"method":"GET\\r\\n","url":"https://e/","headers":{}}`],
    ["http", `{"method":"GET","url":"https://e/","headers":{"a":"b\\r\\nc: d"}}`],
    ["http", `{"method":"GET","url":"https://e/","headers":null}`],
    ["email", `{"subject":"a\\nb"}`],
    ["email", `{"subject":"a","html":{}}`],
    ["s3", `{"bucket":1,"prefix":"","payload":1}`],
    ["emit", `{"name":"$errors","raw_event":1}`],
    ["emit", `{"name":"n"}`],
    ["emit", `{"raw_event":1,"ts":1e300}`],
    ["sse", `{"channel":"","payload":1}`],
    ["sse", `{"channel":"c"}`],
  ] as const)("refuses a forged argument of %s: %s", (kind, text) => {
    expect(parseSendArgument(kind, text)).toBeUndefined();
  });

  it.each(sendKinds)("refuses what is no object, for %s", (kind) => {
    for (const text of ["", "null", "1", "[]", `"x"`, "{", "{}"]) expect(parseSendArgument(kind, text)).toBeUndefined();
  });
});
