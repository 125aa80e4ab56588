import type { Client } from "../../client/client.ts";
import type { Operations } from "../../client/generated/operations.ts";

/** What has props: a component, a source, or a step of a workflow. */
export type PropTarget =
  | { readonly kind: "step"; readonly path: { readonly workflow_id: string; readonly step: string } }
  | { readonly kind: "source"; readonly path: { readonly id: string } }
  | { readonly kind: "component"; readonly path: { readonly key: string } };

/** The target of `p_…/step`, `dc_…`, or the id or key of a component. */
export function targetOf(text: string): PropTarget {
  const [workflow = "", step] = text.split("/", 2);
  if (step !== undefined && workflow.startsWith("p_")) return { kind: "step", path: { workflow_id: workflow, step } };
  return text.startsWith("dc_") ? { kind: "source", path: { id: text } } : { kind: "component", path: { key: text } };
}

/** All props for the values chosen so far. */
export function propsOf(client: Client, target: PropTarget, body: Operations["listComponentProps"]["body"]) {
  if (target.kind === "step") return client.call("listStepProps", { path: target.path, body });
  if (target.kind === "source") return client.call("listSourceProps", { path: target.path, body });
  return client.call("listComponentProps", { path: target.path, body });
}

/** Choices of a prop whose options are a function. */
export function optionsOf(client: Client, target: PropTarget, body: Operations["listComponentOptions"]["body"]) {
  if (target.kind === "step") return client.call("listStepOptions", { path: target.path, body });
  if (target.kind === "source") return client.call("listSourceOptions", { path: target.path, body });
  return client.call("listComponentOptions", { path: target.path, body });
}
