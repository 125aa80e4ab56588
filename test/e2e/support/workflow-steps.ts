import { expect } from "vitest";
import type { Client } from "../../support/system/client.ts";
import { until } from "../../support/until.ts";

/** A step of a workflow in a request, with code of its own. @param body of `run({ steps, $ })` */
export const step = (name: string, body: string) => ({
  name,
  component_code: `export default { type: "action", name: "A step", version: "1.0.0", async run({ steps, $ }) { ${body} } };`,
});

export interface Workflow {
  readonly id: string;
}

export interface EndedRun {
  readonly id: string;
  readonly status: string;
  readonly steps: readonly { readonly name: string; readonly return_value: unknown; readonly error: unknown }[];
}

/** The first run of a workflow, once it has ended. While processes are killed, requests may fail. */
export async function endedRun(cluster: Client, workflow: string): Promise<EndedRun> {
  let id: string | undefined;
  await until(async () => {
    const { body } = await cluster.call<{ readonly data: readonly EndedRun[] } | undefined>("GET", `/workflows/${workflow}/runs`);
    id = body?.data.find(({ status }) => status === "succeeded" || status === "failed")?.id;
    return id !== undefined;
  }, "the run has ended");
  return dataOf<EndedRun>(cluster, "GET", `/workflows/${workflow}/runs/${id}`);
}

/** `data` of a request that succeeds. */
export async function dataOf<Data>(cluster: Client, method: string, path: string, body?: unknown): Promise<Data> {
  const answer = await cluster.call<{ readonly data: Data }>(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body.data;
}
