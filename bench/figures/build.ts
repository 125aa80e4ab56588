import { requestBuild } from "../../platform/jetstream/requests/build-requests.ts";
import type { Figure } from "../figure.ts";
import { describeTimes, percentile } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";

/**
 * From asking a builder to its answer, over NATS, one after the other, with new code. A builder that has just
 * started has no packages and nothing of npm's cache, so each of a few systems gives one first time of an import.
 */
const systems = 3;
const perSystem = 10;

const text = (n: number, imports = "", used = "n"): string =>
  `${imports}const n = ${n};\nexport default { name: "Bench", props: { http: "$.interface.http" }, run() { this.$emit({ used: ${used} }); } };`;
const withAxios = (n: number): string => text(n, `import axios from "axios";\n`, "[n, axios.VERSION]");
/** The same component in ten modules. */
const modules = Array.from({ length: 9 }, (_, index) => [`lib/m${index}.mjs`, `export const m${index} = ${index};\n`] as const);
const severalFiles = (n: number) => ({
  code: text(
    n,
    modules.map(([path], index) => `import { m${index} } from "../${path}";\n`).join(""),
    `[n, ${modules.map((_, index) => `m${index}`).join()}]`,
  ),
  entry: "sources/bench.mjs",
  files: Object.fromEntries(modules),
});

export async function run(): Promise<readonly Figure[]> {
  const times = { alone: [] as number[], several: [] as number[], first: [] as number[], again: [] as number[] };
  for (let system = 0; system < systems; system++) {
    const started = await startSystem({ roles: ["ingress", "builder"] });
    try {
      await build(started, { code: text(-1) }); // The sandbox that reads definitions starts with the first build.
      for (let n = 0; n < perSystem; n++) times.alone.push(await build(started, { code: text(n) }));
      for (let n = 0; n < perSystem; n++) times.several.push(await build(started, severalFiles(n)));
      times.first.push(await build(started, { code: withAxios(-1) }));
      for (let n = 0; n < perSystem; n++) times.again.push(await build(started, { code: withAxios(n) }));
    } finally {
      await started.stop();
    }
  }
  return [
    figure("a component without imports", times.alone, 150),
    figure("a component of ten files", times.several, 150),
    figure("axios for the first time", times.first, 3_000),
    figure("imports that are installed", times.again, 700),
  ];
}

function figure(what: string, times: readonly number[], atMost: number): Figure {
  return {
    name: `build of ${what}, p95`,
    value: percentile(times, 0.95),
    unit: "ms",
    goal: { of: "value", atMost },
    note: `${times.length} builds one after the other, new code each; ${describeTimes(times)}`,
  };
}

/** ms. */
async function build({ connection }: System, request: Parameters<typeof requestBuild>[1]): Promise<number> {
  const startedAt = performance.now();
  await requestBuild(connection.nats, request);
  return performance.now() - startedAt;
}
