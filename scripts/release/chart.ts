import { cp, mkdtemp, readdir, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isDigest, type Digest } from "./digest.ts";
import { startLayoutRegistry } from "./layout-registry.ts";
import type { Release } from "./release.ts";
import { command, run, type Command } from "./run.ts";

/** Packages the chart to `headwater-<version>.tgz` in `folder`. Files have the time of the commit, which Helm keeps. */
export async function packageChart({ root, version, committedAt }: Release, folder: string): Promise<string> {
  const staging = await mkdtemp(join(tmpdir(), "headwater-chart-"));
  try {
    await cp(join(root, "charts/headwater"), staging, { recursive: true });
    const names = await readdir(staging, { recursive: true });
    for (const name of ["", ...names]) await utimes(join(staging, name), committedAt, committedAt);
    await run(command("helm", "package", staging, "--destination", folder));
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  const archive = join(folder, `headwater-${version}.tgz`);
  // `helm push` takes the time in the manifest from the archive.
  await utimes(archive, committedAt, committedAt);
  return archive;
}

export const pushChart = (archive: string, parent: string, ...flags: readonly string[]): Command =>
  command("helm", "push", archive, `oci://${parent}`, ...flags);

const index = z.object({ manifests: z.tuple([z.object({ digest: z.custom<Digest>((value) => isDigest(String(value))) })]) });

/**
 * Writes the chart as an OCI layout and returns the digest of its manifest. `helm push` fills it, over a registry on loopback,
 * so the digest is the one that the publication gives the chart.
 */
export async function writeChartLayout(archive: string, folder: string): Promise<Digest> {
  const registry = await startLayoutRegistry(folder);
  const home = await mkdtemp(join(tmpdir(), "headwater-helm-"));
  try {
    // Without the user's credentials and plugins.
    const env = { HELM_CONFIG_HOME: home, HELM_CACHE_HOME: home, HELM_DATA_HOME: home };
    await run(pushChart(archive, `${registry.host}/charts`, "--plain-http"), { env });
  } finally {
    await registry.stop();
    await rm(home, { recursive: true, force: true });
  }
  return index.parse(JSON.parse(await readFile(join(folder, "index.json"), "utf8"))).manifests[0].digest;
}
