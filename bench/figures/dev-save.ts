import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import type { Figure } from "../figure.ts";
import { percentile } from "../harness/measure/statistics.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";

/**
 * `hw dev`: from saving a file to the line that says that the new version runs. The baseline is the same change as one PUT of the source, in
 * turns. And from `hw init` to the first event that `hw dev` prints, as a person types both.
 */
const samples = 30;
const program = join(import.meta.dirname, "..", "..", "bin", "hw.mjs");

const component = (n: number): string =>
  `const n = ${n};\nexport default { name: "Saved", version: "0.1.0", props: { http: "$.interface.http" }, run(event) { this.$emit({ n }); } };\n`;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  const folder = await mkdtemp(join(tmpdir(), "headwater-dev-save-"));
  try {
    const env = {
      HOME: folder,
      PATH: process.env["PATH"] ?? "",
      HEADWATER_URL: system.apiUrl.replace(/\/v1$/, ""),
      HEADWATER_API_KEY: await system.key(),
    };
    const first = await secondsToFirstEvent(folder, env);
    const { saves, puts } = await saved(system, folder, env);
    const p50 = percentile(saves, 0.5);
    return [
      startToHelp(),
      {
        name: "hw dev: save to the new version, p95",
        value: percentile(saves, 0.95),
        unit: "ms",
        baseline: percentile(puts, 0.95),
        goal: { of: "value", atMost: 1_000 },
        note: `${samples} saves; p50 ${p50.toFixed(0)} ms; the baseline is one PUT of the source, p50 ${percentile(puts, 0.5).toFixed(0)} ms`,
      },
      {
        name: "hw init to the first event of hw dev",
        value: first,
        unit: "s",
        goal: { of: "value", atMost: 20 },
        note: "a timer of one second",
      },
    ];
  } finally {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** From the start of the process to its end; the compile cache is warm, as it is from the second start on. */
function startToHelp(): Figure {
  const elapsed = (args: readonly string[]): number => {
    const startedAt = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
    if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
    return performance.now() - startedAt;
  };
  elapsed([program, "--help"]);
  const rounds = Array.from({ length: samples }, () => ({ help: elapsed([program, "--help"]), bare: elapsed(["-e", "0"]) }));
  const helps = rounds.map(({ help }) => help);
  return {
    name: "hw: start to help, p95",
    value: percentile(helps, 0.95),
    unit: "ms",
    baseline: percentile(
      rounds.map(({ bare }) => bare),
      0.95,
    ),
    goal: { of: "value", atMost: 150 },
    note: `p50 ${percentile(helps, 0.5).toFixed(0)} ms; the baseline is node -e 0`,
  };
}

type Env = Readonly<Record<string, string>>;

async function secondsToFirstEvent(folder: string, env: Env): Promise<number> {
  const startedAt = performance.now();
  const init = hw(folder, env, ["init", "source", "first"]);
  await once(init.child, "close");
  const dev = hw(folder, env, ["dev", "first/first.ts", "--prop", "timer=1s", "--delete"]);
  await dev.printed(/◆/);
  const seconds = (performance.now() - startedAt) / 1_000;
  await dev.end();
  return seconds;
}

async function saved(system: System, folder: string, env: Env): Promise<{ saves: number[]; puts: number[] }> {
  const path = join(folder, "saved.mjs");
  await writeFile(path, component(-1));
  const dev = hw(folder, env, ["dev", "saved.mjs", "-o", "json", "--delete"]);
  await dev.printed(/"type":"endpoint"/);
  const [, id = ""] = /"id":"(dc_\w+)"/.exec(dev.text()) ?? [];
  const [saves, puts]: [number[], number[]] = [[], []];
  for (let n = 0; n < samples; n++) {
    const begin = dev.text().length;
    let startedAt = performance.now();
    await writeFile(path, component(n));
    await dev.printed(/"type":"deployed"/, begin);
    saves.push(performance.now() - startedAt);
    startedAt = performance.now();
    await put(system, env, id, component(1_000 + n));
    puts.push(performance.now() - startedAt);
  }
  await dev.end();
  return { saves, puts };
}

async function put({ apiUrl }: System, env: Env, id: string, code: string): Promise<void> {
  const { statusCode, body } = await request(`${apiUrl}/sources/${id}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${env["HEADWATER_API_KEY"]}`, "content-type": "application/json" },
    body: JSON.stringify({ component_code: code }),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`PUT /sources answers ${statusCode}`);
}

interface Running {
  readonly child: ChildProcess;
  readonly text: () => string;
  /** Resolves when what was printed after `from` matches. */
  printed(pattern: RegExp, from?: number): Promise<void>;
  end(): Promise<void>;
}

function hw(cwd: string, env: Env, args: readonly string[]): Running {
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return {
    child,
    text: () => text,
    printed: async (pattern, from = 0) => {
      while (!pattern.test(text.slice(from))) {
        if (child.exitCode !== null) throw new Error(`hw ${args.join(" ")} has ended: ${text}`);
        await once(child.stdout, "data");
      }
    },
    end: async () => {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "close");
    },
  };
}
