import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

/** What the files of a source tree say about its version. */
export interface StatedVersions {
  /** Version by the place that states it. package.json is the first one. */
  readonly versions: Readonly<Record<string, string>>;
  /** CHANGELOG.md: headings of its releases, newest first, without `Unreleased`. */
  readonly changes: readonly string[];
  readonly hasUnreleased: boolean;
}

const versioned = z.object({ version: z.string() });
const lock = versioned.extend({ packages: z.object({ "": versioned }) });
const chart = versioned.extend({ appVersion: z.string() });

export async function readVersions(root: string): Promise<StatedVersions> {
  const text = (path: string): Promise<string> => readFile(join(root, path), "utf8");
  const lockfile = lock.parse(JSON.parse(await text("package-lock.json")));
  const { version, appVersion } = chart.parse(parse(await text("charts/headwater/Chart.yaml")));
  const headings = [...(await text("CHANGELOG.md")).matchAll(/^## \[([^\]]+)\](?: - \d{4}-\d{2}-\d{2})?$/gm)].flatMap(
    ([, name]) => name ?? [],
  );
  return {
    versions: {
      "package.json": versioned.parse(JSON.parse(await text("package.json"))).version,
      "package-lock.json": lockfile.version,
      "packages of package-lock.json": lockfile.packages[""].version,
      "cli/package.json": versioned.parse(JSON.parse(await text("cli/package.json"))).version,
      "domain/version.ts": /platformVersion = "([^"]+)"/.exec(await text("domain/version.ts"))?.[1] ?? "",
      "version of Chart.yaml": version,
      "appVersion of Chart.yaml": appVersion,
    },
    changes: headings.filter((name) => name !== "Unreleased"),
    hasUnreleased: headings.includes("Unreleased"),
  };
}

/**
 * Reasons why this source cannot be released as `tag`. Without a tag, as in a dry run, the changes may still be listed as
 * unreleased.
 */
export function planVersionProblems({ versions, changes, hasUnreleased }: StatedVersions, tag?: string): readonly string[] {
  const [version = ""] = Object.values(versions);
  const differing = Object.entries(versions).filter(([, stated]) => stated !== version);
  return [
    ...(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)
      ? []
      : [`version ${version} of package.json is invalid: use 1.2.3 or 1.2.3-rc.1`]),
    ...differing.map(([place, stated]) => `${place} is ${stated}: it must be ${version}, as in package.json`),
    ...(tag === undefined || tag === `v${version}` ? [] : [`tag ${tag} is invalid: the tag of this source is v${version}`]),
    ...(changes[0] === version || (tag === undefined && hasUnreleased)
      ? []
      : [`CHANGELOG.md begins with ${changes[0] ?? "no release"}: add "## [${version}] - <date>" above it`]),
  ];
}

/** The section of a version in CHANGELOG.md, or of what is unreleased: the text of the release's page. */
export async function readChanges(root: string, version: string): Promise<string> {
  const sections = (await readFile(join(root, "CHANGELOG.md"), "utf8")).split(/^(?=## \[)/m);
  const find = (name: string): string | undefined => sections.find((section) => section.startsWith(`## [${name}]`));
  return `${(find(version) ?? find("Unreleased") ?? "").replace(/^## .*\n/, "").trim()}\n`;
}
