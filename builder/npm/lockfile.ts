import { z } from "zod";
import { refuse } from "../errors.ts";
import { formatBytes, type BuildLimits } from "../limits.ts";

/** A folder below node_modules and nothing else: the text may come from anyone who can write a Component. */
const location = /^node_modules\/(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?:\/node_modules\/(?:@[\w.~-]+\/)?[\w~-][\w.~-]*)*$/;
const version = /^\d+\.\d+\.\d+[\w.+-]*$/;

const lockedPackage = z
  .looseObject({
    version: z.string().regex(version, "is no version"),
    integrity: z
      .string()
      .regex(/^sha\d+-[\w+/=? -]+$/)
      .optional(),
    inBundle: z.boolean().optional(),
    link: z.literal(false).optional(),
    resolved: z.string().optional(),
  })
  .refine((entry) => entry.integrity !== undefined || entry.inBundle === true, "has no integrity hash");

const lockfile = z.looseObject({
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), z.unknown()),
});

/**
 * Checks a lockfile that came with a request and makes it independent of the registry that wrote it: addresses go, versions and
 * integrity hashes stay, so that another mirror may serve the same bytes and a lockfile cannot name an address to fetch from.
 * @throws InvalidInput `invalid_lockfile`.
 */
export function parseLockfile(text: string, limits: BuildLimits): string {
  if (Buffer.byteLength(text) > limits.lockfileBytes) throw invalid(`it is larger than ${formatBytes(limits.lockfileBytes)}`);
  const parsed = lockfile.safeParse(parseJson(text));
  if (!parsed.success) throw invalid("npm lockfile version 3 is expected");
  const packages: [string, unknown][] = [];
  for (const [path, entry] of Object.entries(parsed.data.packages)) {
    if (path === "") packages.push([path, entry]);
    else packages.push([path, parseEntry(path, entry)]);
  }
  return formatLockfile({ ...parsed.data, packages: Object.fromEntries(packages) });
}

function parseEntry(path: string, entry: unknown): unknown {
  if (!location.test(path)) throw invalid(`"${path.slice(0, 100)}" is no path of an installed package`);
  const parsed = lockedPackage.safeParse(entry);
  if (!parsed.success) throw invalid(`${path} ${parsed.error.issues[0]?.message ?? "is no package of the registry"}`);
  const { resolved: _, ...rest } = parsed.data;
  return rest;
}

/** npm's wishes are a version, a range or a tag, each perhaps after `npm:name@`; a tag begins like a word. */
const tag = /^(npm:.*@)?(?!v\d|x$|x\.)[a-z][\w.-]*$/i;

/**
 * Wishes with the tags replaced by the locked versions. npm believes a lockfile for ranges, but asks the registry again what a tag
 * means as soon as the lockfile has no addresses.
 */
export function pinTags(wanted: Readonly<Record<string, string>>, lockfileText: string): Record<string, string> {
  const { packages } = lockfile.parse(parseJson(lockfileText));
  return Object.fromEntries(
    Object.entries(wanted).map(([key, wish]) => {
      const [, alias = ""] = tag.exec(wish) ?? [undefined, undefined];
      const locked = lockedPackage.safeParse(packages[`node_modules/${key}`]);
      return [key, tag.test(wish) && locked.success ? alias + locked.data.version : wish];
    }),
  );
}

/** The lockfile as if it had been made for `wanted`, without the versions pinned in between. */
export function restoreWishes(lockfileText: string, wanted: Readonly<Record<string, string>>): string {
  const parsed = lockfile.parse(parseJson(lockfileText));
  return formatLockfile({
    ...parsed,
    packages: { ...parsed.packages, "": { name: "component", dependencies: wanted } },
  });
}

/** What a lockfile says of a package at its top. */
export function lockedIn(lockfileText: string, name: string): { version?: string; integrity?: string; deprecated?: string } {
  const { packages } = lockfile.parse(parseJson(lockfileText));
  const { data } = lockedPackage.safeParse(packages[`node_modules/${name}`]);
  if (data === undefined) return {};
  const { version: installed, integrity, deprecated } = data;
  return { version: installed, ...(integrity !== undefined && { integrity }), ...(typeof deprecated === "string" && { deprecated }) };
}

const formatLockfile = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;
const invalid = (reason: string): Error => refuse("invalid_lockfile", `the lockfile cannot be used: ${reason}`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
