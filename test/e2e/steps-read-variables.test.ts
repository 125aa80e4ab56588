import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { withSystem } from "../support/system/system.ts";

/** Variables over REST, read by runs of a whole installation. */
const headwater = withSystem();

const action = (run: string, props = "{}"): string =>
  `export default { name: "A step", type: "action", version: "1.0.0", props: ${props}, ${run} };`;

interface Step {
  readonly outcome: string;
  readonly return_value?: unknown;
  readonly inputs?: unknown;
  readonly logs?: readonly unknown[];
  readonly error?: { readonly message: string } | null;
}
interface Run {
  readonly id: string;
  readonly status: string;
  readonly steps: readonly Step[];
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await headwater.call<{ readonly data: T }>(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body?.data;
}
const set = (name: string, value: string, more: object = {}): Promise<unknown> => call("PUT", `/variables/${name}`, { value, ...more });

async function run(workflow: string): Promise<Run> {
  const { id } = await call<{ readonly id: string }>("POST", `/workflows/${workflow}/runs`, {});
  let found: Run | undefined;
  await until(async () => {
    const { status, body } = await headwater.call<{ readonly data: Run }>("GET", `/workflows/${workflow}/runs/${id}`);
    found = status === 200 ? body.data : undefined;
    return found !== undefined && !["queued", "running"].includes(found.status);
  }, "the run ends");
  if (found === undefined) throw new Error("no run");
  return found;
}

describe("a step", () => {
  it("reads variables in props and in its code; the next run reads a change, without a deployment", async () => {
    await set("GREETING", "Hello");
    await set("TOKEN", "a-secret-token", { secret: true });
    const code = action(
      `run() { console.log("with " + process.env.TOKEN); return [this.text.length, process.env.GREETING, atLoad, Object.keys(process.env).length]; }`,
      `{ text: "string" }`,
    );
    const workflow = await call<{ readonly id: string; readonly deployment_id: string }>("POST", "/workflows", {
      name: "Reads variables",
      steps: [
        {
          name: "a",
          component_code: `const atLoad = process.env.GREETING; ${code}`,
          props: { text: "{{ env.GREETING }}, {{ process.env.TOKEN }}" },
        },
      ],
    });
    const first = await run(workflow.id);
    expect(first.steps[0]?.return_value, JSON.stringify(first)).toEqual(["Hello, a-secret-token".length, "Hello", "Hello", 4]);
    expect(JSON.stringify([first.steps[0]?.inputs, first.steps[0]?.logs])).not.toContain("a-secret-token");
    await set("GREETING", "Hallo");
    const second = await run(workflow.id);
    expect(second.steps[0]?.return_value).toEqual(["Hallo, a-secret-token".length, "Hallo", "Hallo", 4]);
    expect((await call<{ readonly deployment_id: string }>("GET", `/workflows/${workflow.id}`)).deployment_id).toBe(workflow.deployment_id);
    await call("DELETE", "/variables/GREETING");
    const third = await run(workflow.id);
    expect([third.status, third.steps[0]?.error?.message]).toEqual([
      "failed",
      expect.stringContaining("the variable 'GREETING' is not set"),
    ]);
  });

  it("of a draft reads them too, in code and in props", async () => {
    await set("DRAFTED", "yes");
    const { id } = await call<{ readonly id: string }>("POST", "/workflows", { name: "Draft", steps: [] });
    const code = action("run() { return [this.text, process.env.DRAFTED]; }", `{ text: "string" }`);
    const steps = [{ name: "a", component_code: code, props: { text: "{{ env.DRAFTED }}!" } }];
    const tested = await call<{ readonly steps: readonly Record<string, unknown>[] }>("POST", `/workflows/${id}/test`, { steps });
    expect(tested.steps[0], JSON.stringify(tested)).toMatchObject({ outcome: "succeeded", $return_value: ["yes!", "yes"] });
  });

  it("of a saved component sees no variables in its code, and gets them as values of its secret props", async () => {
    await set("API_KEY", "key-of-the-owner", { secret: true });
    const { id } = await call<{ readonly id: string }>("POST", "/components", {
      component_code: action(
        `run() { return [this.key.length, process.env.API_KEY ?? null]; }`,
        `{ key: { type: "string", secret: true } }`,
      ),
    });
    const workflow = await call<{ readonly id: string }>("POST", "/workflows", {
      name: "Uses a saved component",
      steps: [{ name: "a", component_id: id, props: { key: "{{ process.env.API_KEY }}" } }],
    });
    expect((await run(workflow.id)).steps[0]?.return_value).toEqual(["key-of-the-owner".length, null]);
    await call("DELETE", "/variables/API_KEY");
    const failed = await run(workflow.id);
    expect(failed.steps[0]?.error?.message).toBe("prop 'key': the variable 'API_KEY' is not set: hw variables set API_KEY");
  });
});
