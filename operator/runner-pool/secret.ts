import { z } from "zod";
import { credentialsVersionAnnotation, type PoolSecret } from "./plan.ts";
import { credentialsFile } from "./objects/pod.ts";
import { workloadName, type PoolIdentity } from "./objects/names.ts";
import type { RunnerPoolPorts } from "./ports.ts";

const liveSecret = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
  data: z.record(z.string(), z.string()).default({}),
});

type Ports = Pick<RunnerPoolPorts, "workloads" | "credentials" | "keys">;

/**
 * The Secret of a pool's runners. Sealing keys are stable; credentials differ on each call, so existing ones are kept until their version
 * changes: otherwise each pass would replace every pod.
 */
export class PoolSecrets {
  readonly #ports: Ports;
  readonly #made = new Map<string, { readonly credentials: string; readonly version: string }>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async of(identity: PoolIdentity): Promise<PoolSecret> {
    const { pool } = identity;
    const version = await this.#ports.credentials.version(identity);
    const known = this.#made.get(pool) ?? (await this.#read(pool));
    const made = known?.version === version ? known : { version, credentials: await this.#ports.credentials.forPool(identity) };
    this.#made.set(pool, made);
    return { credentials: made.credentials, credentialsVersion: version, keys: await this.#ports.keys.privateKeys(pool) };
  }

  forget(pool: string): void {
    this.#made.delete(pool);
  }

  async #read(pool: string): Promise<{ credentials: string; version: string } | undefined> {
    const secret = await this.#ports.workloads.find("Secret", workloadName(pool));
    if (secret === undefined) return undefined;
    const { metadata, data } = liveSecret.parse(secret);
    const version = metadata.annotations[credentialsVersionAnnotation];
    const text = data[credentialsFile];
    return version === undefined || text === undefined ? undefined : { version, credentials: Buffer.from(text, "base64").toString("utf8") };
  }
}
