import { execFile } from "node:child_process";
import { z } from "zod";
import { findProgram } from "../support/helm.ts";

export interface Kubectl {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param input for `-f -` */
export function tryKubectl(args: readonly string[], input = "", timeoutMs = 180_000): Promise<Kubectl> {
  const program = findProgram("kubectl");
  if (program === undefined) throw new Error("kubectl was not found on PATH");
  return new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 64 * 2 ** 20, timeout: timeoutMs }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

/** @throws with what kubectl says */
export async function kubectl(args: readonly string[], input = "", timeoutMs?: number): Promise<string> {
  const { code, stdout, stderr } = await tryKubectl(args, input, timeoutMs);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).default({}),
    uid: z.string(),
    generation: z.number().optional(),
    deletionTimestamp: z.string().optional(),
  }),
  status: z.looseObject({}).optional(),
});
export type ClusterObject = z.infer<typeof objectSchema>;

/** `kubectl get` of one kind or several. */
export async function list(kinds: string, ...flags: readonly string[]): Promise<readonly ClusterObject[]> {
  const text = await kubectl(["get", kinds, ...flags, "-o", "json"]);
  return z.object({ items: z.array(objectSchema) }).parse(JSON.parse(text)).items;
}

export async function get(kind: string, name: string, namespace: string): Promise<ClusterObject> {
  return objectSchema.parse(JSON.parse(await kubectl(["-n", namespace, "get", kind, name, "-o", "json"])));
}

const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().default(""),
  message: z.string().default(""),
  observedGeneration: z.number().optional(),
});

export function conditionOf(object: ClusterObject, type: string): z.infer<typeof conditionSchema> | undefined {
  const conditions = z.array(conditionSchema).safeParse(object.status?.["conditions"]);
  return conditions.data?.find((condition) => condition.type === type);
}

/** Does it do what its present spec says, by its own words? */
export function isReady(object: ClusterObject): boolean {
  const ready = conditionOf(object, "Ready");
  return ready?.status === "True" && (ready.observedGeneration === undefined || ready.observedGeneration === object.metadata.generation);
}
