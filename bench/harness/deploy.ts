import type { Build } from "../../domain/component/definition.ts";
import type { Deployment, Endpoint, Route } from "../../domain/source/deployment.ts";
import { buckets, defaultPool, deploymentKey } from "../../domain/subjects.ts";
import { Bucket } from "../../platform/jetstream/buckets/bucket.ts";
import { requestBuild } from "../../platform/jetstream/requests/build-requests.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import type { System } from "./system.ts";

export const owner = "u_bench";

/**
 * Sources by the thousand: the entries that the operator writes, written by the bench. Runners, ingress and router meet a source
 * nowhere else, so they see no difference.
 */
export class Entries {
  readonly #system: Pick<System, "connection" | "keysDirectory">;
  readonly #deployments: Bucket<Deployment>;
  readonly #endpoints: Bucket<Endpoint>;
  readonly #routes: Bucket<Route>;

  constructor(system: Pick<System, "connection" | "keysDirectory">) {
    this.#system = system;
    this.#deployments = bucket<Deployment>(system.connection, buckets.deployments);
    this.#endpoints = bucket<Endpoint>(system.connection, buckets.endpoints);
    this.#routes = bucket<Route>(system.connection, buckets.routes);
  }

  /** By the builder role. */
  build(code: string): Promise<Build> {
    return requestBuild(this.#system.connection.nats, { code });
  }

  /** Writes the entry, again when there is one: then runners drop what they hold of the source. */
  async deploy(source: string, build: Pick<Build, "bundle" | "needsNode">, generation = 1, of = owner): Promise<void> {
    await this.#deployments.put(deploymentKey(defaultPool, source), {
      source,
      owner: of,
      pool: defaultPool,
      name: source,
      id: `d_${source.slice(3)}g${generation}`,
      generation,
      active: true,
      bundle: build.bundle,
      needsNode: build.needsNode,
      props: {},
      secrets: null,
      dedupe: null,
      hooks: [],
      endpoint: null,
    });
  }

  /** Makes `POST /<source>` an endpoint of the source. */
  async endpoint(source: string, of = owner): Promise<void> {
    await this.#endpoints.put(source, { source, pool: defaultPool, owner: of, customResponse: false, active: true });
  }

  /** A webhook of its own for the source, unless one is named; a source has as many as it has subscriptions of different names. */
  async subscribe(source: string, url: string, name = source.slice(3), webhook = `wh_${name}`): Promise<void> {
    const secrets = await createSecrets(this.#system.keysDirectory);
    const key = await secrets.seal(`whsec_${Buffer.from("a key of the bench's own").toString("base64")}`);
    await this.#routes.put(`sub_${name}`, {
      subscription: `sub_${name}`,
      owner,
      emitter: source,
      channel: "",
      listener: { kind: "webhook", id: webhook, url, keys: [key] },
    });
  }
}

const bucket = <T>(connection: Connection, name: string): Bucket<T> => new Bucket<T>(connection, name, (json) => json as T); // Only written here.

/** `dc_<prefix>0` … */
export const sourceIds = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `dc_${prefix}${index}`);

/** As many at a time as a server takes without complaint. */
export async function inChunks<T>(items: readonly T[], action: (item: T, index: number) => Promise<unknown>, size = 64): Promise<void> {
  for (let start = 0; start < items.length; start += size)
    await Promise.all(items.slice(start, start + size).map((item, offset) => action(item, start + offset)));
}
