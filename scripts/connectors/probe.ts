import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createBuilder } from "../../builder/builder.ts";
import type { PackageListing } from "../../domain/component/package-listing.ts";
import { formatNpmOrigin } from "../../domain/component/npm-origin.ts";
import { Unavailable } from "../../domain/errors.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";

/** A builder and a sandbox on this machine. */
export interface Probe {
  list(name: string): Promise<PackageListing>;
  /** Builds one component of a package. */
  bundleBytes(name: string, version: string, address: string): Promise<number>;
  stop(): Promise<void>;
}

/** A busy machine needs longer than a build may take in production. */
const buildMs = 300_000;
const attempts = 3;
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const nowhere = {
  read: () => Promise.reject(new Error("only packages of npm are read")),
};

export async function openProbe(): Promise<Probe> {
  const directory = join(import.meta.dirname, "..", "..", ".headwater", "connectors");
  await mkdir(directory, { recursive: true });
  const sandbox = await createSandbox({
    cacheDirectory: join(directory, "sandbox"),
    bundleDirectory: directory,
    children: 1,
    ownerProcesses: 1,
    jail: "auto",
    egress: createEgress({ allow: [] }),
    memoryBudgetMb: 64,
    logger: quiet as never, // It logs nothing that the table needs.
  });
  const builder = await createBuilder({
    directory,
    inspector: sandbox,
    bundles: { keep: async () => true, store: async () => {} },
    limits: { buildMs, bundleMs: buildMs, scanMs: buildMs, inspectMs: 60_000 },
  });
  return {
    list: (name) => again(() => builder.listPackage(name, null)),
    bundleBytes: async (name, version, address) => {
      const base = formatNpmOrigin({ name, range: version, path: "" });
      const code = await builder.collect(address.startsWith("#") || address === "" ? base + address : `${base}/${address}`, nowhere);
      return (await again(() => builder.build(code))).bundleBytes;
    },
    stop: async () => {
      await builder.stop();
      await sandbox.stop(AbortSignal.abort());
    },
  };
}

/** The registry and the machine may be busy: what fails for that reason is tried again. */
async function again<T>(work: () => Promise<T>, attempt = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unavailable) || attempt >= attempts) throw error;
    return again(work, attempt + 1);
  }
}
