import { startChild } from "../child.ts";
import { Entries, inChunks, sourceIds } from "../deploy.ts";
import type { Load, RoundTripResult } from "../measure/round-trip-ledger.ts";
import type { System } from "../system.ts";

const [sources, receivers] = [64, 4] as const;
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ id: event.body.id, at: Date.now() }); } };`;

/** 64 sources with an endpoint and a webhook each, and the process that asks them and hears them. */
export interface RoundTripSources {
  load(orders: Omit<Load, "port" | "paths">): Promise<RoundTripResult>;
  stop(): Promise<void>;
}

export async function startRoundTrips(system: System): Promise<RoundTripSources> {
  const child = startChild<unknown>("measure/round-trips", { receivers });
  const { ports } = (await child.next()) as { ports: readonly number[] }; // Its first message.
  const entries = new Entries(system);
  const build = await entries.build(code);
  const ids = sourceIds("n", sources);
  await inChunks(ids, async (id, index) => {
    await entries.deploy(id, build);
    await entries.endpoint(id);
    await entries.subscribe(id, `http://127.0.0.1:${ports[index % ports.length]}/${id}`);
  });
  const paths = ids.map((id) => `/${id}`);
  return {
    load: async (orders) => {
      child.send({ ...orders, port: system.ingressPort, paths });
      return (await child.next()) as RoundTripResult; // Its answer to a load.
    },
    stop: () => child.stop(),
  };
}
