import { z } from "zod";
import { props } from "./props.ts";
import { baseStatus, columnsOf, defineKind, resourceName } from "./resource.ts";

/** Shape only: a workflow can emit and listen, its steps are not executed yet. */
const step = z.object({
  name: z.string().min(1).max(63).describe("By which later steps read what it exports."),
  componentRef: z
    .object({ name: resourceName.describe("Name of the Component.") })
    .describe("The action it runs, a Component of the namespace."),
  props,
});

const spec = z.object({
  name: z.string().min(1).max(255).optional().describe("Display name. Without one the resource's name."),
  active: z.boolean().default(true).describe("False: it does not run."),
  steps: z.array(step).max(100).default([]).describe("What it does, in order."),
});
export type WorkflowSpec = z.infer<typeof spec>;
export type WorkflowStatus = z.infer<typeof baseStatus>;

export const workflowKind = defineKind<WorkflowSpec, WorkflowStatus>({
  kind: "Workflow",
  plural: "workflows",
  shortNames: ["hwflow"],
  description: "Steps that run one after the other for each event. It can be subscribed and subscribed to; its steps are not executed yet.",
  columns: columnsOf({ name: "Active", type: "boolean", path: ".spec.active", description: "Whether it may run.", wide: true }),
  selectable: [".spec.active", ".status.id"],
  spec: spec as unknown as z.ZodType<WorkflowSpec>, // Defaults make input and output differ; a stored spec is the output.
  status: baseStatus,
});
