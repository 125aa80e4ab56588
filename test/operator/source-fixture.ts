import { finalizer, type Metadata } from "../../crds/resource.ts";
import type { PlanInputs } from "../../operator/source/plan/step.ts";
import type { Observed } from "../../operator/source/observe/observed.ts";
import { metadata } from "./metadata.ts";

/** Of a source that the operator has adopted. */
export const adopted: Metadata = { ...metadata, name: "orders", finalizers: [finalizer], labels: { "headwater.dev/id": "dc_1" } };

/** What a plan finds of a source that is nowhere yet, beside its resources. */
export const undeployed: Omit<Observed, "source" | "component"> = {
  id: "dc_1",
  owner: "u_1",
  code: { code: { code: "code" } },
  secrets: undefined,
  secretsChanged: false,
  pool: "default",
  movesTo: undefined,
  deployed: undefined,
  endpoint: undefined,
  hooks: {},
};

export const inputs: PlanInputs = {
  deployment: "d_new",
  endpointKey: "key",
  nameSlug: "orders",
  ingressUrl: "http://in.test",
  maxDeactivateWaitMs: 90_000,
  retryHook: false,
  now: Date.parse(metadata.creationTimestamp) + 60_000,
};
