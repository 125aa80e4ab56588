import { writeFile } from "node:fs/promises";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { findNatsServer } from "../platform/process/nats/nats-server.ts";
import { isReached, ratioOf, type Figure } from "./figure.ts";
import { formatTable } from "./table.ts";

const names = [
  "accepted",
  "committed",
  "whole-path",
  "workflows",
  "resumes",
  "timers",
  "webhooks",
  "neighbours",
  "owner-processes",
  "fetch",
] as const;
/** Need programs that not every machine has: measured when they are named. */
const onDemand = ["scale"] as const;

const help = `Usage: npm run bench [-- name… --json FILE --seconds N --timers N --interval N --components N --owners N --sources N --applied N --nats-servers N]

Figures: ${names.join(", ")}; all of them without a name. On demand: ${onDemand.join(", ")}.
  --json FILE     also writes the figures as JSON
  --seconds N     duration of the timers figure (120)
  --timers N      number of its sources (2000)
  --interval N    seconds between two ticks of each (5)
  --components N  components that the sources are spread over (1)
  --owners N      owners that the sources are spread over (1)
  --sources N     those of the scale figure (1000)
  --applied N     how many of them are applied; the others are copies (1000)
  --nats-servers N  3: a cluster of three, with three replicas of each stream (1)
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "string" },
      seconds: { type: "string", default: "120" },
      timers: { type: "string", default: "2000" },
      interval: { type: "string", default: "5" },
      components: { type: "string", default: "1" },
      owners: { type: "string", default: "1" },
      sources: { type: "string", default: "1000" },
      applied: { type: "string", default: "1000" },
      "nats-servers": { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(help);
  const unknown = positionals.filter((name) => ![...names, ...onDemand].some((known) => known === name));
  if (unknown.length > 0) throw new Error(`no figure is called ${unknown.join(", ")}: choose among ${[...names, ...onDemand].join(", ")}`);
  const { seconds, timers, interval, components, owners, sources, applied } = values;
  const numbers = {
    seconds: Number(seconds),
    timers: Number(timers),
    interval: Number(interval),
    components: Number(components),
    owners: Number(owners),
    sources: Number(sources),
    applied: Number(applied),
  };
  process.env["HEADWATER_TEST_NATS_SERVERS"] = values["nats-servers"]; // Read by test/support/nats/nats-servers.ts, which figures import.
  const machine = { ...(await describeMachine()), "nats-servers": values["nats-servers"] };
  const figures: Figure[] = [];
  const failed: string[] = [];
  for (const name of positionals.length === 0 ? names : positionals) {
    process.stderr.write(`measuring ${name} …\n`);
    try {
      const module: { run(options: typeof numbers): Promise<readonly Figure[]> } = await import(`./figures/${name}.ts`);
      const measured = await module.run(numbers);
      figures.push(...measured);
      process.stderr.write(`${formatTable(measured)}\n\n`);
    } catch (error) {
      failed.push(name);
      process.stderr.write(`${name} could not be measured: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
  }
  console.log(
    `${Object.entries(machine)
      .map(([what, value]) => `${what} ${value}`)
      .join(", ")}\n\n${formatTable(figures)}`,
  );
  if (values.json !== undefined)
    await writeFile(
      values.json,
      `${JSON.stringify({ machine, figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), reached: isReached(figure) })), failed }, undefined, 2)}\n`,
    );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function describeMachine(): Promise<Readonly<Record<string, string>>> {
  const [first] = cpus();
  return {
    at: new Date().toISOString(),
    cpu: `${cpus().length} × ${first?.model.trim() ?? "unknown"}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    os: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    "nats-server": (await findNatsServer()).version,
  };
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void import("./harness/system.ts").then(({ stopSystems }) => stopSystems()).finally(() => process.exit(130)));
await main();
// Whatever a figure left open must not keep the bench alive.
process.exit();
