import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stop as stopEsbuild } from "esbuild";
import { createEgress } from "../platform/http/egress.ts";
import { roleNames } from "../platform/process/settings/configuration.ts";
import { createSandbox } from "../runner/sandbox/pool.ts";
import { bundledCache } from "../platform/process/settings/sandbox-size.ts";

/**
 * Runs while the image is built. Creates the guest's scripts and their V8 code caches. With NODE_COMPILE_CACHE it also loads
 * all of our source once, which fills that cache.
 */
const root = join(import.meta.dirname, "..");
const bundleDirectory = await mkdtemp(join(tmpdir(), "headwater-"));
const sandbox = await createSandbox({ cacheDirectory: bundledCache, bundleDirectory, children: 1, egress: createEgress({ allow: [] }) });
await sandbox.stop(AbortSignal.timeout(5_000));
await stopEsbuild();
await rm(bundleDirectory, { recursive: true });
for (const role of roleNames) await import(`../wiring/roles/${role}.ts`);
// Modules that are loaded lazily, or by some processes only.
for (const path of [
  "wiring/sandbox-host",
  "wiring/install/prepare",
  "wiring/install/install",
  "platform/http/text-reader",
  "platform/telemetry/traces",
])
  await import(`../${path}.ts`);
execFileSync(process.execPath, [join(root, "main.ts"), "--help"], { stdio: "ignore" });
