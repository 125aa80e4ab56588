import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { packageChart, writeChartLayout } from "./chart.ts";
import { digestOf, hexOf, type Digest } from "./digest.ts";
import { createPredicate, createStatement, type Subject } from "./provenance.ts";
import { chartParent, type Release } from "./release.ts";
import { createSbom } from "./sbom.ts";
import { readChanges } from "./versions.ts";

const checksumsFile = "SHA256SUMS";

/** The files of a release, in one folder. */
export interface Artifacts {
  readonly chartArchive: string;
  readonly chartDigest: Digest;
  readonly sbom: string;
  /** The predicate alone, as cosign takes it. */
  readonly predicate: string;
  /** The in-toto statement about chart and image. */
  readonly provenance: string;
  readonly changes: string;
  /** Digests of chart, SBOM and provenance, as `sha256sum --check` reads them. */
  readonly checksums: string;
}

/**
 * Writes everything that a release publishes besides the image. The same source gives the same bytes each time. The folder appears, or
 * replaces that of an earlier release, when all files are written. `images` are the subjects of the provenance that were built before.
 *
 * @throws if the folder has files that are not those of a release
 */
export async function writeArtifacts(release: Release, folder: string, images: readonly Subject[]): Promise<Artifacts> {
  await expectReplaceable(folder);
  const target = resolve(folder);
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(`${target}-`);
  try {
    const files = await writeFiles(release, draft, images);
    await chmod(draft, 0o755);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
    const moved = (file: string): string => join(folder, basename(file));
    return {
      chartArchive: moved(files.chartArchive),
      chartDigest: files.chartDigest,
      sbom: moved(files.sbom),
      predicate: moved(files.predicate),
      provenance: moved(files.provenance),
      changes: moved(files.changes),
      checksums: moved(files.checksums),
    };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function writeFiles(release: Release, folder: string, images: readonly Subject[]): Promise<Artifacts> {
  const write = async (name: string, content: string): Promise<string> => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

  const chartArchive = await packageChart(release, folder);
  const chartDigest = await writeChartLayout(chartArchive, join(folder, "chart.oci"));
  const sbom = await write("sbom.cdx.json", await createSbom(release));
  const predicate = await createPredicate(release);
  const chart = { name: `${chartParent(release)}/headwater`, digest: chartDigest };
  const archive = { name: basename(chartArchive), digest: digestOf(await readFile(chartArchive)) };
  const provenance = await write("provenance.intoto.json", json(createStatement([chart, archive, ...images], predicate)));
  const changes = await write("CHANGES.md", await readChanges(release.root, release.version));
  const published = [chartArchive, sbom, provenance];
  const lines = await Promise.all(published.map(async (file) => `${hexOf(digestOf(await readFile(file)))}  ${basename(file)}\n`));
  return {
    chartArchive,
    chartDigest,
    sbom,
    predicate: await write("provenance.predicate.json", json(predicate)),
    provenance,
    changes,
    checksums: await write(checksumsFile, lines.join("")),
  };
}

async function expectReplaceable(folder: string): Promise<void> {
  const content = existsSync(folder) ? await readdir(folder) : [];
  if (content.length > 0 && !content.includes(checksumsFile))
    throw new Error(`${folder} has files that are not those of a release, such as ${content[0]}: name an empty folder`);
}
