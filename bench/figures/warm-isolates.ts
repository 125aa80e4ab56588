import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { pause, runOnce } from "../harness/load/runs.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * What a source costs while it is kept warm: growth of the sandbox's proportional set size over sources that ran once, all of which fit
 * into the budget. In an isolate of its own, because each source has an owner of its own; then in an isolate that sources of one owner share.
 */
const megabyte = 2 ** 20;
/** An isolate at rest has what it does not need collected, one after the other. */
const settleMs = 12_000;
const sources = 30;
/** Makes what there is once: caches, threads, the allocator's arenas. */
const first = 6;

const run0 = `run(event) { this.$emit({ at: Date.now() }); }`;
const cases = [
  { label: "without imports", atMost: [2.2, 0.4], code: `export default { name: "Bench", props: { http: "$.interface.http" }, ${run0} };` },
  {
    label: "with Node's crypto and Buffer",
    atMost: [4.5, 1],
    code: `import { createHmac } from "node:crypto"; export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ at: createHmac("sha256", Buffer.from("k")).update("x").digest("hex") }); } };`,
  },
  {
    label: "with axios, lodash and uuid",
    atMost: [9, 4],
    code: `import axios from "axios"; import _ from "lodash"; import { v4 } from "uuid"; const client = axios.create(); export default { name: "Bench", props: { http: "$.interface.http" }, async run(event) { const failed = await client.get("http://127.0.0.1:1/").catch((error) => error.code); this.$emit({ at: _.chunk([v4(), failed], 1).length }); } };`,
  },
] as const;

export async function run(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const each of cases) {
    // A process of its own for each: what one case leaves behind would be room for the next.
    const system = await startSystem({ roles: ["ingress", "runner", "builder"] });
    try {
      figures.push(await measure(system, each, false), await measure(system, each, true));
    } finally {
      await system.stop();
    }
  }
  return figures;
}

async function measure(system: System, { label, atMost, code }: (typeof cases)[number], isShared: boolean): Promise<Figure> {
  const entries = new Entries(system);
  const build = await entries.build(code);
  const warm = async (prefix: string, count: number): Promise<number> => {
    const ids = sourceIds(prefix, count);
    await inChunks(ids, (id) => entries.deploy(id, build, 1, isShared ? "u_shared" : `u_${id}`));
    await runOnce(system.connection, ids);
    await pause(settleMs);
    return system.memory().get("sandbox") ?? 0;
  };
  const before = await warm(isShared ? "sharedfirst" : "first", first);
  const after = await warm(isShared ? "shared" : "warm", sources);
  return {
    name: `memory per warm source ${isShared ? "that shares an isolate" : "in its own isolate"}, ${label}`,
    value: (after - before) / sources / megabyte,
    unit: "MB PSS",
    goal: { of: "value", atMost: atMost[isShared ? 1 : 0] },
    note: `${sources} sources after ${first} others, ${settleMs / 1_000} s after their runs; bundle ${Math.round(build.bundleBytes / 1024)} KiB`,
  };
}
