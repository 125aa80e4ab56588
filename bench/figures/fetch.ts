import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import type { Commit } from "../../domain/run/commit.ts";
import type { Figure } from "../figure.ts";
import { Entries } from "../harness/deploy.ts";
import { followRuns, invoke } from "../harness/load/runs.ts";
import { until } from "../../test/support/until.ts";
import { median } from "../harness/measure/statistics.ts";
import { startSystem } from "../harness/system.ts";

/**
 * `fetch` of a component to a server on this machine, one request after the other: on a connection that is kept alive, and with a new one for
 * each, to another address of 127.0.0.0/8. The baseline is `node:http` of this process to the same server, in rounds that alternate.
 */
const rounds = 12;
const requests = 200;

interface Times {
  readonly warm: number;
  readonly cold: number;
}

const code = `export default { name: "Bench", props: { http: "$.interface.http" }, async run({ port }) {
  const timed = async (host) => {
    const start = performance.now();
    for (let n = 0; n < ${requests}; n++) await (await fetch("http://" + host(n) + ":" + port + "/")).text();
    return (performance.now() - start) / ${requests};
  };
  await fetch("http://127.0.0.1:" + port + "/").then((response) => response.text());
  const round = 1 + Math.floor(Math.random() * 250);
  this.$emit({ warm: await timed(() => "127.0.0.1"), cold: await timed((n) => "127.0." + round + "." + (n + 2)) });
} };`;

export async function run(): Promise<readonly Figure[]> {
  const server = createServer((_, response) => response.end("ok")).listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const system = await startSystem({ roles: ["ingress", "runner", "builder"] });
  try {
    const entries = new Entries(system);
    const source = "dc_fetch";
    await entries.deploy(source, await entries.build(code), 1, "u_fetch");
    const commits: Commit[] = [];
    const following = await followRuns(system.connection, (commit) => commits.push(commit));
    const [ours, nodes]: [Times[], Times[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      nodes.push(await ofNode(port, round));
      await invoke(system.connection, source, [{ source, trigger: "manual", at: Date.now(), event: { port }, generation: 1 }]);
      await until(() => commits.length > round, "the source has run");
      ours.push(timesOf(commits[round]));
    }
    await following.stop();
    return (["warm", "cold"] as const).map((kind) => ({
      name: `fetch of a local server, ${kind === "warm" ? "on a connection that is kept" : "with a new connection"}, p50`,
      value: median(ours.map((times) => times[kind])),
      baseline: median(nodes.map((times) => times[kind])),
      unit: "ms",
      note: `${rounds} rounds of ${requests} requests, one after the other; baseline: node:http`,
    }));
  } finally {
    await system.stop();
    server.close();
  }
}

function timesOf(commit: Commit | undefined): Times {
  const [event] = commit?.events ?? [];
  if (event === undefined) throw new Error(`the source has emitted nothing: ${JSON.stringify(commit)}`);
  return (typeof event.payload === "string" ? JSON.parse(event.payload) : event.payload) as Times; // Of the code above.
}

async function ofNode(port: number, round: number): Promise<Times> {
  const agent = new Agent({ keepAlive: true });
  const request = (host: string): Promise<void> =>
    new Promise((resolve, reject) => {
      get({ host, port, agent }, (response) => void response.resume().on("end", resolve)).on("error", reject);
    });
  const timed = async (hostOf: (n: number) => string): Promise<number> => {
    const start = performance.now();
    for (let n = 0; n < requests; n++) await request(hostOf(n));
    return (performance.now() - start) / requests;
  };
  await request("127.0.0.1");
  const warm = await timed(() => "127.0.0.1");
  const cold = await timed((n) => `127.1.${round}.${n + 2}`);
  agent.destroy();
  return { warm, cold };
}
