import { z } from "zod";

/** An object as the API server returns it. The functions below parse its fields. */
export interface LiveObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly generation: number;
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

const conditions = z
  .array(z.object({ type: z.string(), status: z.string(), reason: z.string().optional(), message: z.string().optional() }))
  .default([]);

const deployment = z.object({
  metadata: z.object({ generation: z.number().default(0) }),
  spec: z.object({ replicas: z.number().default(1) }),
  status: z
    .object({
      observedGeneration: z.number().default(0),
      replicas: z.number().default(0),
      updatedReplicas: z.number().default(0),
      readyReplicas: z.number().default(0),
      availableReplicas: z.number().default(0),
      conditions,
    })
    .prefault({}),
});
export type LiveDeployment = z.output<typeof deployment>;

const terminated = z.object({
  reason: z.string().default(""),
  exitCode: z.number().default(0),
  message: z.string().default(""),
  finishedAt: z.string().default(""),
});
const containerStatuses = z
  .array(
    z.object({
      restartCount: z.number().default(0),
      state: z
        .object({
          waiting: z.object({ reason: z.string().default(""), message: z.string().default("") }).optional(),
          terminated: terminated.optional(),
        })
        .default({}),
      lastState: z.object({ terminated: terminated.optional() }).default({}),
    }),
  )
  .default([]);
const pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string(), deletionTimestamp: z.string().optional() }),
  status: z
    .object({
      phase: z.string().default("Pending"),
      reason: z.string().default(""),
      message: z.string().default(""),
      conditions,
      containerStatuses,
      initContainerStatuses: containerStatuses,
    })
    .prefault({})
    // Both containers of a runner pod can fail in the same ways.
    .transform(({ initContainerStatuses, ...status }) => ({
      ...status,
      containerStatuses: [...initContainerStatuses, ...status.containerStatuses],
    })),
});
export type LivePod = z.output<typeof pod>;

export const parseDeployment = (object: LiveObject): LiveDeployment => deployment.parse(object);
export const parsePod = (object: LiveObject): LivePod => pod.parse(object);
