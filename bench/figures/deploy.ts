import { request } from "undici";
import type { Figure } from "../figure.ts";
import { describeTimes, percentile } from "../harness/measure/statistics.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";

/**
 * From `POST /v1/sources` with new component code to the first 200 of its endpoint, one after the other. With an
 * import the package is in the builder's store already, and the code is new each time.
 */
const cases = [
  { label: "without imports", samples: 40, atMost: 300, code: (n: number) => component(n, "", "n") },
  {
    label: "with an installed import",
    samples: 30,
    atMost: 1_000,
    code: (n: number) => component(n, `import { nanoid } from "nanoid";\n`, "nanoid()"),
  },
] as const;

const component = (n: number, imports: string, id: string): string =>
  `${imports}const n = ${n};\nexport default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ n, id: ${id} }); } };`;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  try {
    const key = await system.key();
    const figures: Figure[] = [];
    for (const { label, samples, atMost, code } of cases) {
      const first = await deploy(system, key, code(-1)); // Installs the package; warm-up otherwise.
      const times: number[] = [];
      for (let n = 0; n < samples; n++) times.push(await deploy(system, key, code(n)));
      figures.push({
        name: `POST /v1/sources to an answering endpoint, p95, ${label}`,
        value: percentile(times, 0.95),
        unit: "ms",
        goal: { of: "value", atMost },
        note: `${samples} deploys one after the other, new code each; ${describeTimes(times)}, the very first ${first.toFixed(0)} ms`,
      });
    }
    return figures;
  } finally {
    await system.stop();
  }
}

/** ms. */
async function deploy({ apiUrl }: System, key: string, code: string): Promise<number> {
  const startedAt = performance.now();
  const created = await request(`${apiUrl}/sources`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ component_code: code }),
  });
  const text = await created.body.text();
  if (created.statusCode !== 200) throw new Error(`POST /sources answers ${created.statusCode} ${text}`);
  const { data } = JSON.parse(text) as { data: { configured_props: { http: { endpoint_url: string } } } }; // Checked by the request below.
  for (;;) {
    const { statusCode, body } = await request(data.configured_props.http.endpoint_url, { method: "POST", body: "{}" });
    await body.dump();
    if (statusCode === 200) return performance.now() - startedAt;
    if (performance.now() - startedAt > 20_000) throw new Error(`the endpoint still answers ${statusCode}`);
  }
}
