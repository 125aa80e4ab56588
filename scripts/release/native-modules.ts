import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readImagePackages } from "./image-packages.ts";

/** The image is built for these. */
const platforms = ["linux/amd64", "linux/arm64"] as const;
type Platform = (typeof platforms)[number];

interface Machine {
  /** As npm names it. */
  readonly cpu: string;
  /** `e_machine` of an ELF file. */
  readonly elf: number;
}

const machines: Readonly<Record<Platform, Machine>> = {
  "linux/amd64": { cpu: "x64", elf: 62 },
  "linux/arm64": { cpu: "arm64", elf: 183 },
};
/** Of Debian 12 (bookworm), which the Dockerfile copies its libraries from. */
const maxGlibc = 36;
/** ABI of Node 26, which the Dockerfile installs. */
const abi = 147;
/** Packages with install scripts that the image does not need: two of them bring a package per platform. */
const scriptless = ["@scarf/scarf", "esbuild", "koffi"];

/**
 * Whether the image's packages bring compiled code for each platform. The Dockerfile runs no install scripts, so what is not
 * prebuilt would be missing. It cannot check base images: only their registry knows their platforms.
 */
export async function findPlatformProblems(root: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path, name, hasInstallScript, optionalDependencies } of await readImagePackages(root)) {
    problems.push(...missingSiblings(name, optionalDependencies));
    if (hasInstallScript && !scriptless.includes(name)) problems.push(...(await prebuildProblems(root, path)));
  }
  return problems;
}

/** A package that brings one optional package per platform, as esbuild does, must have those of all our platforms. */
function missingSiblings(name: string, optional: readonly string[]): readonly string[] {
  const isFor = (each: string, cpu: string): boolean => new RegExp(`linux-${cpu}(-gnu)?$`).test(each);
  if (!Object.values(machines).some(({ cpu }) => optional.some((each) => isFor(each, cpu)))) return [];
  return platforms.flatMap((platform) =>
    optional.some((each) => isFor(each, machines[platform].cpu)) ? [] : [`${name} has no package for ${platform}`],
  );
}

async function prebuildProblems(root: string, path: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const platform of platforms) {
    const folder = join(root, path, "prebuilds", `linux-${machines[platform].cpu}`);
    const names = await readdir(folder).catch(() => []);
    const file = names.find((name) => name.includes(`abi${abi}`) && name.includes("glibc"));
    if (file === undefined) problems.push(`${path} has no prebuilt module for ${platform} and Node 26 (ABI ${abi})`);
    else problems.push(...(await elfProblems(join(folder, file), machines[platform])));
  }
  return problems;
}

async function elfProblems(file: string, { cpu, elf }: Machine): Promise<readonly string[]> {
  const content = await readFile(file);
  const machine = content.readUInt16LE(18);
  const versions = [...content.toString("latin1").matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  const needed = Math.max(0, ...versions);
  return [
    ...(content.subarray(0, 4).toString("latin1") === "\x7fELF" && machine === elf ? [] : [`${file} is not for ${cpu}`]),
    ...(needed <= maxGlibc ? [] : [`${file} needs glibc 2.${needed}: the image has 2.${maxGlibc}`]),
  ];
}
