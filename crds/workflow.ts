import { z } from "zod";
import { props } from "./props.ts";
import { baseStatus, columnsOf, defineKind, resourceName, type Resource } from "./resource.ts";

/** Only the shape: a workflow can emit and listen, but its steps are not executed yet. */
const step = z.object({
  name: z.string().min(1).max(63).describe("Name by which later steps read its exports."),
  componentRef: z
    .object({ name: resourceName.describe("Name of the Component.") })
    .describe("The action that the step runs, a Component of the namespace."),
  props,
});

const spec = z.object({
  name: z.string().min(1).max(255).optional().describe("Display name. Default: the resource's name."),
  active: z.boolean().default(true).describe("If false, the workflow does not run."),
  steps: z.array(step).max(100).default([]).describe("Steps, in order."),
});
export type WorkflowSpec = z.infer<typeof spec>;
export type WorkflowStatus = z.infer<typeof baseStatus>;
export type WorkflowResource = Resource<WorkflowSpec, WorkflowStatus>;

export const workflowKind = defineKind<WorkflowSpec, WorkflowStatus>({
  kind: "Workflow",
  plural: "workflows",
  shortNames: ["hwflow"],
  description:
    "Steps that run one after the other for each event. A workflow can be a listener and an emitter; its steps are not executed yet.",
  columns: columnsOf({ name: "Active", type: "boolean", path: ".spec.active", description: "Whether the workflow may run.", wide: true }),
  selectable: [".spec.active", ".status.id"],
  spec: spec as unknown as z.ZodType<WorkflowSpec>, // Defaults make input and output differ; a stored spec is the output.
  status: baseStatus,
});
