import { z } from "zod";
import { baseStatus, columnsOf, defineKind, resourceName, type Resource } from "./resource.ts";
import { matching, structural, valuesByName, withRules } from "./rules.ts";

const quantity = withRules(structural(z.union([z.string().max(32), z.number()]), { "x-kubernetes-int-or-string": true, maxLength: 32 }), {
  cel: "type(self) != string || isQuantity(self)",
  holds: (value) => typeof value === "number" || /^[+-]?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/.test(value),
  message: "it must be a quantity such as 500m, 2 or 512Mi",
}).describe("A quantity, such as 500m, 2 or 512Mi.");
const quantities = valuesByName(quantity, 16);

const toleration = z
  .object({
    key: z.string().max(316).optional().describe("Key of the taint. If absent, with operator Exists, all taints."),
    operator: z.enum(["Exists", "Equal"]).optional().describe("Default: Equal."),
    value: z.string().max(63).optional().describe("Value of the taint, for Equal."),
    effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional().describe("Effect of the taint. If absent, all effects."),
    tolerationSeconds: z.int().optional().describe("For NoExecute: seconds that a pod stays. If absent, forever."),
  })
  .describe("A toleration, as in a pod's spec.");

const cidr = withRules(z.string().max(64), {
  cel: "isCIDR(self)",
  holds: (text) => z.cidrv4().safeParse(text).success || (!/^::ffff:/i.test(text) && z.cidrv6().safeParse(text).success),
  message: "it must be an address range in CIDR notation, such as 10.20.0.0/16 or fd00:1::/64",
}).describe("Address range, such as 10.20.0.0/16.");

const spec = withRules(
  z.object({
    owner: matching(/^(u|o)_[0-9a-z]{1,57}$/, 60, "an owner is the public id of a user (u_…) or an organization (o_…)")
      .optional()
      .describe(
        "Public id of the user or organization whose sources the pool runs. Without an owner, the pool runs the sources of all owners that have no pool, and must be named `default`.",
      ),
    minReplicas: z
      .int()
      .min(0)
      .max(100)
      .default(1)
      .describe("Minimum number of pods. With 0, an idle pool scales to zero; the next invocation waits for a pod to start."),
    maxReplicas: z.int().min(1).max(100).default(4).describe("Maximum number of pods."),
    replicas: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe("Fixed number of pods, as set by `kubectl scale`. Remove it to scale by the backlog again."),
    backlogPerReplica: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1_000)
      .describe("Queued invocations per pod. If there are more, the pool scales up."),
    runtimeClassName: resourceName
      .optional()
      .describe("RuntimeClass of the pods, such as gvisor to isolate user code from the node's kernel."),
    resources: z
      .object({
        requests: quantities.optional().describe("Resource requests of that container, such as cpu: 500m, memory: 1Gi."),
        limits: quantities.optional().describe("Resource limits of that container. Runners fit their warm isolates into the memory limit."),
      })
      .optional()
      .describe(
        "Resources of the container of a pod that runs code. Absent ones have the installation's default; a default request is at most your limit.",
      ),
    nodeSelector: valuesByName(z.string().max(63).describe("Value of the label."), 20)
      .optional()
      .describe("Labels of the nodes that its pods may run on."),
    tolerations: z.array(toleration).max(20).optional().describe("Taints that its pods tolerate."),
    terminationGracePeriodSeconds: z
      .int()
      .min(1)
      .max(3_600)
      .optional()
      .describe("Seconds that a terminating pod has to finish its runs. If absent, 5 s more than the maximum duration of a run."),
    egressAllow: z
      .array(cidr)
      .max(64)
      .default([])
      .describe("Private address ranges (CIDR) that user code may reach. The public internet is always allowed, the cluster never."),
  }),
  {
    cel: "self.minReplicas <= self.maxReplicas",
    holds: ({ minReplicas, maxReplicas }) => minReplicas <= maxReplicas,
    message: "minReplicas must not be more than maxReplicas",
    field: "minReplicas",
  },
);
export type RunnerPoolSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  replicas: z.int().optional().describe("Number of pods."),
  readyReplicas: z.int().optional().describe("Number of ready pods."),
  desiredReplicas: z.int().optional().describe("Desired number of pods, from backlog, memory, CPU and bounds."),
  selector: z.string().optional().describe("Label selector of its pods, for the scale subresource."),
  backlog: z.int().optional().describe("Queued invocations when the status was written."),
});
export type RunnerPoolStatus = z.infer<typeof status>;
export type RunnerPoolResource = Resource<RunnerPoolSpec, RunnerPoolStatus>;

export const runnerPoolKind = defineKind<RunnerPoolSpec, RunnerPoolStatus>({
  kind: "RunnerPool",
  plural: "runnerpools",
  shortNames: ["hwpool"],
  scope: "Cluster",
  description: "Pods that only run the code of sources. The pool named default runs the sources of all owners without their own pool.",
  columns: columnsOf(
    { name: "Owner", type: "string", path: ".spec.owner", description: "Owner whose sources it runs; empty for the default pool." },
    { name: "Replicas", type: "integer", path: ".status.readyReplicas", description: "Number of ready pods." },
    { name: "Desired", type: "integer", path: ".status.desiredReplicas", description: "Desired number of pods." },
    { name: "Backlog", type: "integer", path: ".status.backlog", description: "Queued invocations." },
    { name: "Min", type: "integer", path: ".spec.minReplicas", description: "Minimum number of pods.", wide: true },
    { name: "Max", type: "integer", path: ".spec.maxReplicas", description: "Maximum number of pods.", wide: true },
  ),
  selectable: [".spec.owner"],
  scale: { replicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".status.selector" },
  rules: [
    {
      cel: "size(self.metadata.name) <= 35",
      holds: ({ metadata }) => metadata.name.length <= 35,
      message: "the name of a pool has at most 35 characters: its pods are named after it",
    },
  ],
  immutable: [
    {
      field: "owner",
      message: "the owner of a pool cannot be changed, because its pods have run that owner's code: create another RunnerPool",
    },
  ],
  spec: spec as unknown as z.ZodType<RunnerPoolSpec>, // Defaults make input and output differ; a stored spec is the output.
  status,
});
