import { z } from "zod";

const quantity = z.union([z.string(), z.number()]);
const container = z.looseObject({
  name: z.string(),
  image: z.string().regex(/(:(?!latest$)[^:/]+|@sha256:[0-9a-f]{64})$/, "the image needs a tag other than latest, or a digest"),
  securityContext: z.looseObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
    privileged: z.literal(false).optional(),
    runAsNonRoot: z.literal(true).optional(),
    runAsUser: z.number().min(1).optional(),
  }),
  resources: z.looseObject({
    requests: z.looseObject({ cpu: quantity, memory: quantity }),
    limits: z.looseObject({ memory: quantity }),
  }),
});

const probed = z.looseObject({ startupProbe: z.looseObject({}), readinessProbe: z.looseObject({}), livenessProbe: z.looseObject({}) });

const podSpec = (main: z.ZodType) =>
  z.looseObject({
    automountServiceAccountToken: z.boolean(),
    hostNetwork: z.literal(false).optional(),
    hostPID: z.literal(false).optional(),
    hostIPC: z.literal(false).optional(),
    securityContext: z.looseObject({
      runAsNonRoot: z.literal(true),
      runAsUser: z.number().min(1),
      seccompProfile: z.looseObject({ type: z.literal("RuntimeDefault") }),
    }),
    containers: z.tuple([main], container),
    initContainers: z.array(container).optional(),
    volumes: z.array(z.looseObject({ hostPath: z.never().optional() })).optional(),
  });

const workload = (main: z.ZodType) => z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: podSpec(main) }) }) });
const [serving, ending] = [workload(z.intersection(container, probed)), workload(container)];

const schedule = z.looseObject({ spec: z.looseObject({ jobTemplate: ending }) });
const rules: Readonly<Record<string, z.ZodType>> = { Job: ending, CronJob: schedule };

export const workloadKinds: readonly string[] = ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"];

/**
 * The rules that a Deployment, StatefulSet, Job or CronJob breaks, a line each: the restricted profile of Kubernetes, a read-only file system, an
 * image with a version, requests and a memory limit; a pod that serves needs probes of its first container.
 */
export function podMistakes(object: { readonly kind: string; readonly metadata: { readonly name: string } }): readonly string[] {
  const { error } = (rules[object.kind] ?? serving).safeParse(object);
  return (error?.issues ?? []).map(({ path, message }) => `${object.kind} ${object.metadata.name}: ${path.join(".")}: ${message}`);
}
