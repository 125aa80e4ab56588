import { afterAll, beforeAll, expect, it } from "vitest";
import { finalizer, labels } from "../../../crds/resource.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { startOperator } from "../../../operator/start.ts";
import { owner, withOperatorWorld } from "./world.ts";
import { until } from "../jetstream/support.ts";

const world = withOperatorWorld();
const namespace = namespaceOfOwner(owner);
let operator: { stop(): Promise<void> };

beforeAll(async () => {
  operator = await startOperator({ ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 }, world.ports);
});
afterAll(() => operator.stop());

async function createWorkflow(name: string): Promise<string> {
  const { store } = world.ports;
  await store.create(workflowKind, { namespace, name, spec: workflowKind.spec.parse({ steps: [] }) });
  const idOf = async (): Promise<string | undefined> => (await store.get(workflowKind, namespace, name)).status.id;
  await until(async () => (await idOf()) !== undefined, "it has an id");
  return (await idOf()) ?? "";
}

it("deletes the queue of a deleted workflow, and no other queue", async () => {
  const { store } = world.ports;
  const [ended, kept] = [await createWorkflow("ended"), await createWorkflow("kept")];
  const { metadata } = await store.get(workflowKind, namespace, "ended");
  expect([metadata.finalizers, metadata.labels[labels.id]]).toEqual([[finalizer], ended]);
  for (const workflow of [ended, ended, kept]) await world.queues.add(workflow);
  expect([await world.queues.length(ended), await world.queues.length(kept)]).toEqual([2, 1]);
  await store.delete(workflowKind, namespace, "ended");
  await until(async () => (await store.find(workflowKind, namespace, "ended")) === undefined, "it is gone");
  expect([await world.queues.length(ended), await world.queues.length(kept)]).toEqual([0, 1]);
});
