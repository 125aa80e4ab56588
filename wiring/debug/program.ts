import { rmSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { customAlphabet } from "nanoid";
import { createStackMapper } from "../../builder/bundle/source-map.ts";
import { systemClock } from "../../domain/clock.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import { emptyState } from "../../domain/run/commit.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { InspectorServer } from "../../platform/http/inspector-server.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { sandboxCache } from "../../platform/process/settings/sandbox-size.ts";
import { performDryRun } from "../../runner/run/dry-run.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import type { SandboxOptions } from "../../runner/sandbox/sandbox-options.ts";
import { debuggedBundle, debuggedRun, parseInput, type DebugInput } from "./input.ts";

/**
 * The program of `hw debug`: executes a run in the sandbox of a runner, and stores nothing.
 *
 *     standard input   the run, as JSON (`input.ts`)
 *     standard output  lines of JSON: {"type":"inspector","url"}, {"type":"log","record"}, {"type":"outcome","outcome"}, {"type":"failure","message"}
 */
const root = join(import.meta.dirname, "..", "..");
/** While a person looks at a paused run, no limit of time may end it. */
const unlimitedMs = 24 * 60 * 60 * 1_000;
const unlimited = { entryMs: unlimitedMs, loadMs: unlimitedMs, cpuMs: unlimitedMs };
const randomId = customAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 20);

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function run(input: DebugInput, directory: string): Promise<void> {
  const { egressAllow, egressServer, sandboxJail, runTimeoutMs, runMemoryMb } = parseConfiguration(process.env);
  const { bundle, inspect_port: port } = input;
  const inspector = port === null ? undefined : new InspectorServer(`hw debug ${input.run_id}`);
  const path = join(directory, `${bundle.hash}.js`);
  await writeFile(path, debuggedBundle(input));
  if (inspector !== undefined) print({ type: "inspector", url: await inspector.start(port ?? 0) });
  const sandbox = await createSandbox({
    cacheDirectory: sandboxCache({ dataDirectory: join(root, ".headwater") }),
    bundleDirectory: directory,
    children: 1,
    egress: createEgress({ allow: egressAllow, server: egressServer }),
    jail: sandboxJail,
    debug: debugOf(inspector, new SecretMask(input.secrets)),
    ...(inspector === undefined ? {} : { timeLimits: unlimited }),
  });
  const mapper = bundle.source_map === null ? undefined : createStackMapper(bundle.source_map);
  const { received, deployment, db, secrets } = debuggedRun(input, systemClock.now());
  const config = { runTimeoutMs: inspector === undefined ? runTimeoutMs : unlimitedMs, memoryMb: runMemoryMb };
  const outcome = await performDryRun(received, { ...emptyState, db }, deployment, config, {
    sandbox,
    bundles: { path: async () => path },
    stacks: { map: async (_bundle, stack) => mapper?.mapStack(stack) ?? stack },
    secrets: { open: async () => secrets },
    clock: systemClock,
    randomId,
  });
  print({ type: "outcome", outcome });
  inspector?.stop();
  await sandbox.stop(AbortSignal.abort());
}

const debugOf = (inspector: InspectorServer | undefined, mask: SecretMask): NonNullable<SandboxOptions["debug"]> => ({
  waits: inspector !== undefined,
  attach: (send) => inspector?.attach(send),
  onMessage: (message) => inspector?.send(message),
  onLog: (record) => print({ type: "log", record: mask.record(record) }),
});

const directory = await mkdtemp(join(tmpdir(), "headwater-debug-"));
// `hw` was interrupted.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    rmSync(directory, { recursive: true, force: true });
    process.exit(1);
  });
try {
  await chmod(directory, 0o755); // Where this process is root, sandbox processes have a user of their own.
  await run(parseInput(await text(process.stdin)), directory);
} catch (error) {
  print({ type: "failure", message: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
  process.stdout.write("", () => process.exit()); // Children of the sandbox may still end.
}
