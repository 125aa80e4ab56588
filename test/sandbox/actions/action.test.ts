import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxSuspensionMs } from "../../../domain/workflow/resume-request.ts";
import type { HttpResponse } from "../../../domain/run-products.ts";
import { ended, errorOf, requestFor, type SandboxFixture, shareSandbox, startSandbox } from "../sandbox-fixture.ts";
import { actionOf, cancelUrl, exportsOf, resumeUrl, returned, runAction, runBody, stepRequest } from "./action-support.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

describe("run of an action", () => {
  it("is called 'with an object carrying a `$` helper (actions)', and with steps", async () => {
    const execution = await runBody(fixture, `return [steps.trigger.event.name, steps.first.$return_value, $.context.attempt];`, {
      steps: { trigger: { event: { name: "Ada" } }, first: { $return_value: 7 } },
      context: { attempt: 2 },
    });
    expect(returned(execution)).toEqual(["Ada", 7, 2]);
    expect(actionOf(execution)).toEqual({ exports: {}, flow: null, sends: [], inputs: null });
  });

  it("has props, defaults, bound methods and accounts on `this`, as sources have", async () => {
    const code = `const app = { type: "app", app: "x", propDefinitions: { to: { type: "string", default: "all" } }, methods: { token() { return this.$auth.token; } } };
      export default { name: "a", type: "action", props: { app, text: { type: "any" }, to: { propDefinition: [app, "to"] } }, methods: { shout() { return this.text.value + "!"; } },
        async run({ $ }) { return [this.shout(), this.to, this.app.token(), this.extra]; } }`;
    const execution = await runAction(fixture, code, { props: { app: { $auth: { token: "t" } }, text: { value: "hi" }, extra: 1 } });
    expect(returned(execution)).toEqual(["hi!", "all", "t", 1]);
  });

  it.each([
    ["$.service.db", `this.store.set("n", 1)`],
    ["data_store", `await this.store.set("n", 1)`],
  ])("cannot store in a %s prop, and fails with the reason instead of losing the value", async (type, statement) => {
    const code = `export default { name: "a", type: "action", props: { store: "${type}" }, async run() { ${statement}; } }`;
    expect(errorOf(await runAction(fixture, code))).toMatchObject({
      outcome: "threw",
      code: "db_unavailable",
      message:
        "this.store cannot store 'n': an action has no database. Return the value or use $.export, or use a prop of type data_store that is configured with a data store",
    });
    const read = `export default { name: "a", type: "action", props: { store: "${type}" }, async run() { return [await this.store.get("n")]; } }`;
    expect(returned(await runAction(fixture, read))).toEqual([null]);
  });

  it("completes the body of an HTTP event as for sources", async () => {
    const event = { method: "POST", path: "/", url: "u", query: {}, headers: { "content-type": "application/json" }, bodyRaw: `{"a":1}` };
    expect(returned(await runBody(fixture, `return steps.trigger.event.body;`, { steps: { trigger: { event } } }))).toEqual({ a: 1 });
  });

  it("completes the body of the request that resumed its run", async () => {
    const request = { method: "POST", path: "/", url: "u", query: {}, headers: { "content-type": "application/json" }, bodyRaw: `{"a":1}` };
    const execution = await runBody(fixture, `return [steps.ask.$resume_data.body, $.context.run.callback_request.body];`, {
      steps: { ask: { $resume_data: request } },
      context: { run: { callback_request: request } },
    });
    expect(returned(execution)).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it("returns a value that is 'referenced as `steps.<step>.$return_value`', of up to 4 MiB", async () => {
    expect(returned(await runBody(fixture, `return { a: [1, null] };`))).toEqual({ a: [1, null] });
    expect(returned(await runBody(fixture, ``))).toBeUndefined();
    expect(returned(await runBody(fixture, `return "x".repeat(4_000_000);`))).toHaveLength(4_000_000);
  });

  it("fails with a clear error if the returned value is too large or not JSON", async () => {
    expect(errorOf(await runBody(fixture, `return "x".repeat(4_200_000);`))).toMatchObject({ outcome: "threw", code: "result_too_large" });
    expect(errorOf(await runBody(fixture, `const a = {}; a.a = a; return a;`))).toMatchObject({
      outcome: "threw",
      code: "result_not_json",
    });
    expect(errorOf(await runBody(fixture, `return 10n;`))).toMatchObject({ outcome: "threw", code: "result_not_json" });
    expect(errorOf(await runBody(fixture, `return () => 1;`))).toMatchObject({
      code: "result_not_json",
      message: "run returned a function, which JSON cannot hold",
    });
  });

  it("keeps logs, exports and CPU time of an action that throws, and nothing that it wanted to send", async () => {
    const execution = await runBody(fixture, `console.log("x"); $.export("a", 1); $.send.emit({ a: 1 }); throw new RangeError("no");`);
    expect(errorOf(execution)).toMatchObject({ outcome: "threw", name: "RangeError", message: "no" });
    expect(ended(execution).logs).toMatchObject([{ msg: "x" }]);
    expect(actionOf(execution)).toMatchObject({ exports: { a: "1" }, sends: [] });
  });

  it("meets the limits of sources", async () => {
    // One after the other: loading counts as well, and takes longer beside the others.
    const slow = await runBody(fixture, `await new Promise((r) => setTimeout(r, 60_000));`, { request: { limits: { timeoutMs: 2_000 } } });
    expect(errorOf(slow)).toMatchObject({ outcome: "limited", code: "run_timeout" });
    const loop = await runBody(fixture, `for (;;);`, { request: { limits: { timeoutMs: 1_000 } } });
    expect(errorOf(loop)).toMatchObject({ outcome: "limited", code: "run_timeout" });
    const full = await runBody(fixture, `const all = []; for (;;) all.push(new Array(100_000).fill(1));`, {
      request: { limits: { memoryMb: 64 } },
    });
    expect(errorOf(full)).toMatchObject({ outcome: "limited", code: "memory_limit" });
  });
});

describe("$.export", () => {
  it("`$.export(name, value)`: 'named export, referenced later as `steps.<step>.<name>`'", async () => {
    const execution = await runBody(
      fixture,
      `const value = { a: 1 }; $.export("first", value); value.a = 2; $.export("second", value); $.export("gone", 1); $.export("gone", undefined);`,
    );
    expect(exportsOf(execution)).toEqual({ first: { a: 1 }, second: { a: 2 } });
  });

  it("`$.export('$summary', <string>)`: 'short success summary', only as a text", async () => {
    expect(exportsOf(await runBody(fixture, `$.export("$summary", "Sent 3 mails");`))).toEqual({ $summary: "Sent 3 mails" });
    expect(exportsOf(await runBody(fixture, `$.export("$summary", "x".repeat(5000));`))["$summary"]).toHaveLength(4097);
    expect(errorOf(await runBody(fixture, `$.export("$summary", { a: 1 });`))).toMatchObject({ outcome: "threw", code: "invalid_export" });
  });

  it.each([
    [`$.export("", 1)`, "invalid_export"],
    [`$.export(Symbol("x"), 1)`, "invalid_export"],
    [`$.export("$return_value", 1)`, "invalid_export"],
    [`$.export("x".repeat(2000), 1)`, "invalid_export"],
    [`$.export("f", () => 1)`, "export_not_json"],
    [`$.export("f", 1n)`, "export_not_json"],
    [`$.export("f", "x".repeat(5_000_000))`, "export_too_large"],
    [`for (let i = 0; i < 2000; i++) $.export("n" + i, 1)`, "export_limit"],
  ])("refuses %s", async (body, code) => {
    expect(errorOf(await runBody(fixture, body))).toMatchObject({ outcome: "threw", code });
  });

  it("keeps a name such as __proto__ as a name", async () => {
    const { exports } = actionOf(await runBody(fixture, `$.export("__proto__", { polluted: 1 }); $.export("a", 1);`));
    expect(Object.keys(exports)).toEqual(["__proto__", "a"]);
  });

  it("ends a step whose exports, returned value, response and sends are more than 6 MiB together", async () => {
    const body = `$.export("a", "x".repeat(4_000_000)); $.export("b", "x".repeat(4_000_000));`;
    expect(errorOf(await runBody(fixture, body))).toMatchObject({ outcome: "limited", code: "step_too_large" });
    expect(errorOf(await runBody(fixture, `return "é".repeat(4_000_000);`))).toMatchObject({ outcome: "limited", code: "step_too_large" });
  });
});

describe("$.respond", () => {
  it("`$.respond({status, body})`: the last response is kept until the run of the workflow ends", async () => {
    const announced: HttpResponse[] = [];
    const code = `export default { name: "a", async run({ $ }) { await $.respond({ status: 201, body: 1 }); await $.respond({ status: 202, headers: { a: "b" }, body: { ok: true } }); } }`;
    const request = requestFor(await fixture.bundle(code), stepRequest({}));
    const execution = await fixture.sandbox.execute(request, (response) => void announced.push(response));
    expect(ended(execution).response).toEqual({
      status: 202,
      headers: { a: "b", "content-type": "application/json; charset=utf-8" },
      body: `{"ok":true}`,
    });
    expect(announced).toEqual([]);
  });

  it("announces an immediate response at once, and refuses another one", async () => {
    const announced: HttpResponse[] = [];
    const code = `export default { name: "a", async run({ $ }) { await $.respond({ status: 200, body: "x", immediate: true }); await $.respond({ status: 201 }); } }`;
    const request = requestFor(await fixture.bundle(code), stepRequest({}));
    const execution = await fixture.sandbox.execute(request, (response) => void announced.push(response));
    expect(announced).toEqual([{ status: 200, headers: {}, body: "x" }]);
    expect(ended(execution).response).toBeNull();
    expect(errorOf(execution)).toMatchObject({ outcome: "threw", code: "already_responded" });
  });

  it("fails the step by an invalid response, also without await", async () => {
    expect(errorOf(await runBody(fixture, `await $.respond({ status: 99 });`))).toMatchObject({
      outcome: "threw",
      code: "invalid_response",
    });
    expect(errorOf(await runBody(fixture, `$.respond({ status: 200, headers: { "a b": "c" } });`)).message).toContain("header name");
  });
});

describe("$.flow", () => {
  it("`return $.flow.exit(<reason string>)`: asks to end the whole workflow", async () => {
    const execution = await runBody(fixture, `return $.flow.exit("not today");`);
    expect(returned(execution)).toBeUndefined();
    expect(actionOf(execution).flow).toEqual({ kind: "exit", reason: "not today" });
    expect(actionOf(await runBody(fixture, `$.flow.exit();`)).flow).toEqual({ kind: "exit", reason: null });
  });

  it("delay, suspend and rerun return the URLs that continue or cancel the run", async () => {
    const body = `return [$.flow.delay(1), $.flow.suspend(), $.flow.rerun(1)];`;
    const urls = { resume_url: resumeUrl, cancel_url: cancelUrl };
    expect(returned(await runBody(fixture, body))).toEqual([urls, urls, urls]);
  });

  it("does not end the step, and the last call counts", async () => {
    const execution = await runBody(fixture, `$.flow.delay(5); $.flow.suspend(10); $.export("after", 1); return 2;`);
    expect(returned(execution)).toBe(2);
    expect(actionOf(execution)).toMatchObject({ exports: { after: "1" }, flow: { kind: "suspend", ms: 10 } });
  });

  it.each([
    [`$.flow.delay(1500)`, { kind: "delay", ms: 1500 }],
    [`$.flow.delay("1500", { a: 1 })`, { kind: "delay", ms: 1500 }],
    [`$.flow.delay(${maxSuspensionMs})`, { kind: "delay", ms: maxSuspensionMs }],
    [`$.flow.suspend()`, { kind: "suspend", ms: null }],
    [`$.flow.suspend(0)`, { kind: "suspend", ms: 0 }],
    [`$.flow.rerun(1000)`, { kind: "rerun", ms: 1000, context: null, maxRetries: null }],
    [`$.flow.rerun(1000, { page: 2 }, 5)`, { kind: "rerun", ms: 1000, context: `{"page":2}`, maxRetries: 5 }],
    [`$.flow.rerun()`, { kind: "rerun", ms: 86_400_000, context: null, maxRetries: null }],
  ])("%s records %j", async (body, flow) => {
    expect(actionOf(await runBody(fixture, body)).flow).toEqual(flow);
  });

  it.each([
    `$.flow.delay()`,
    `$.flow.delay(-1)`,
    `$.flow.delay(NaN)`,
    `$.flow.delay(Infinity)`,
    `$.flow.delay("soon")`,
    `$.flow.suspend(${maxSuspensionMs + 1})`,
    `$.flow.rerun({}, 1)`,
    `$.flow.rerun(1, () => 1)`,
    `$.flow.rerun(1, "x".repeat(70_000))`,
    `$.flow.rerun(1, null, 1.5)`,
    `$.flow.rerun(1, null, -1)`,
  ])("%s fails the step with a clear error", async (body) => {
    expect(errorOf(await runBody(fixture, body))).toMatchObject({
      outcome: "threw",
      code: "invalid_flow",
      message: expect.stringMatching(/given to \$\.flow\.\w+\(\)/),
    });
  });
});

describe("a warm context of an action", () => {
  it("serves the runs of one key, and drops what a promise of an earlier run does", async () => {
    const code = `let late; export default { name: "a", async run({ steps, $ }) {
      const before = late; late = $;
      if (before) { before.export("late", 1); before.flow.exit(); before.send.sse({ channel: "c", payload: 1 }); await before.respond({ status: 200 }); }
      $.export("mine", steps.trigger.event); return before !== undefined; } }`;
    const request = { source: "p_x/c_y/3", revision: "d_1" };
    const first = await runAction(fixture, code, { request });
    const second = await runAction(fixture, code, { request, steps: { trigger: { event: 2 } } });
    expect([returned(first), returned(second)]).toEqual([false, true]);
    expect(actionOf(second)).toMatchObject({ exports: { mine: "2" }, flow: null, sends: [] });
    expect(ended(second).response).toBeNull();
    expect(ended(second).logs.map(({ msg }) => msg?.split(" of an earlier run")[0])).toEqual([
      `$.export("late")`,
      "$.flow.exit()",
      "$.send.sse()",
      "$.respond()",
    ]);
  });

  it("shares an isolate with the other keys of the same step", async () => {
    const apart = await startSandbox();
    try {
      const code = `export default { name: "a", async run({ $ }) { return 1; } }`;
      for (const slot of [0, 1, 2, 3]) expect(returned(await runAction(apart, code, { request: { source: `p_x/c_y/${slot}` } }))).toBe(1);
      // Counts arrive with the next heartbeat of the child.
      await expect.poll(() => apart.sandbox.stats()).toMatchObject({ sources: 4, isolates: 1 });
    } finally {
      await apart.stop();
    }
  });
});
