import { z } from "zod";
import { baseStatus, columnsOf, defineKind, resourceName } from "./resource.ts";
import { matching, structural, valuesByName, withRules } from "./rules.ts";

const quantity = withRules(structural(z.union([z.string().max(32), z.number()]), { "x-kubernetes-int-or-string": true, maxLength: 32 }), {
  cel: "type(self) != string || isQuantity(self)",
  holds: (value) => typeof value === "number" || /^[+-]?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/.test(value),
  message: "it must be a quantity such as 500m, 2 or 512Mi",
}).describe("A quantity, such as 500m, 2 or 512Mi.");
const quantities = valuesByName(quantity, 16);

const toleration = z
  .object({
    key: z.string().max(316).optional().describe("Key of the taint; without one every taint, with operator Exists."),
    operator: z.enum(["Exists", "Equal"]).optional().describe("Equal when absent."),
    value: z.string().max(63).optional().describe("Value of the taint, for Equal."),
    effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional().describe("Effect of the taint; every one when absent."),
    tolerationSeconds: z.int().optional().describe("For NoExecute: seconds that a pod stays; for ever when absent."),
  })
  .describe("A taint, in the words of a pod's tolerations.");

const cidr = withRules(z.string().max(64), {
  cel: "isCIDR(self)",
  holds: (text) => z.cidrv4().safeParse(text).success || (!/^::ffff:/i.test(text) && z.cidrv6().safeParse(text).success),
  message: "it must be an address range in CIDR notation, such as 10.20.0.0/16 or fd00:1::/64",
}).describe("A range of addresses, such as 10.20.0.0/16.");

const spec = withRules(
  z.object({
    owner: matching(/^(u|o)_[0-9a-z]{1,57}$/, 60, "an owner is the public id of a user (u_…) or an organization (o_…)")
      .optional()
      .describe(
        "Public id of the user or organization whose sources it runs, and nobody else's. Without one it runs the sources of everybody who has no pool; that pool is named `default`.",
      ),
    minReplicas: z
      .int()
      .min(0)
      .max(100)
      .default(1)
      .describe("Fewest pods. With 0 an idle pool sleeps, and an event wakes it: the first one waits for a pod to start."),
    maxReplicas: z.int().min(1).max(100).default(4).describe("Most pods."),
    replicas: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe("Set, as `kubectl scale` does, it is the number of pods, whatever waits. Remove it to let the backlog decide again."),
    backlogPerReplica: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1_000)
      .describe("Waiting invocations that one pod is expected to bear; more of them make more pods."),
    runtimeClassName: resourceName
      .optional()
      .describe("RuntimeClass of the pods, such as gvisor, when user code should have a kernel of its own."),
    resources: z
      .object({
        requests: quantities.optional().describe("What is set aside for a pod, such as cpu: 500m, memory: 1Gi."),
        limits: quantities.optional().describe("What a pod may use at most. Runners fit their warm isolates into the memory limit."),
      })
      .optional()
      .describe("Resources of a pod; of each that is absent here, the installation's default."),
    nodeSelector: valuesByName(z.string().max(63).describe("Value of the label."), 20)
      .optional()
      .describe("Labels of the nodes that its pods may run on."),
    tolerations: z.array(toleration).max(20).optional().describe("Taints that its pods tolerate."),
    terminationGracePeriodSeconds: z
      .int()
      .min(1)
      .max(3_600)
      .default(30)
      .describe("Time a pod has to finish its runs when it is asked to go, seconds."),
    egressAllow: z
      .array(cidr)
      .max(64)
      .default([])
      .describe("Private address ranges (CIDR) that its user code may reach; the public internet is always open, the cluster never."),
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
  replicas: z.int().optional().describe("Pods that exist."),
  readyReplicas: z.int().optional().describe("Pods that are ready."),
  desiredReplicas: z.int().optional().describe("Pods that backlog, memory and bounds call for."),
  selector: z.string().optional().describe("Label selector of its pods, for the scale subresource."),
  backlog: z.int().optional().describe("Invocations that waited when this was written."),
});
export type RunnerPoolStatus = z.infer<typeof status>;

export const runnerPoolKind = defineKind<RunnerPoolSpec, RunnerPoolStatus>({
  kind: "RunnerPool",
  plural: "runnerpools",
  shortNames: ["hwpool"],
  scope: "Cluster",
  description:
    "Pods that run the code of sources, and nothing else. The pool named default runs every source whose owner has no pool of its own.",
  columns: columnsOf(
    { name: "Owner", type: "string", path: ".spec.owner", description: "Whose sources it runs; empty for everybody's." },
    { name: "Replicas", type: "integer", path: ".status.readyReplicas", description: "Pods that are ready." },
    { name: "Desired", type: "integer", path: ".status.desiredReplicas", description: "Pods that are wanted." },
    { name: "Backlog", type: "integer", path: ".status.backlog", description: "Invocations that waited a moment ago." },
    { name: "Min", type: "integer", path: ".spec.minReplicas", description: "Fewest pods.", wide: true },
    { name: "Max", type: "integer", path: ".spec.maxReplicas", description: "Most pods.", wide: true },
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
      message: "the owner of a pool cannot be changed, since its pods have held that owner's code: create another RunnerPool",
    },
  ],
  spec: spec as unknown as z.ZodType<RunnerPoolSpec>, // Defaults make input and output differ; a stored spec is the output.
  status,
});
