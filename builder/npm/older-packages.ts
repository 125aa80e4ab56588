import { InvalidInput } from "../../domain/errors.ts";

/** Sets of packages that one build tries, the newest of all among them. */
const maxAttempts = 4;

interface Fit {
  /** Folder name below node_modules → what npm is asked for. */
  readonly wanted: Readonly<Record<string, string>>;
  /** False with a lockfile, which has the last word. */
  readonly mayBeOlder: boolean;
}

/**
 * A component that names no version was written for what was the newest then. Where the newest of today lacks what is imported of it,
 * the one before the last incompatible change is tried, and so on.
 * @throws what the first try threw, when none fits
 */
export async function withFittingPackages<T>({ wanted, mayBeOlder }: Fit, make: (wanted: Fit["wanted"]) => Promise<T>): Promise<T> {
  const first = await attempt(() => make(wanted));
  let older: Readonly<Record<string, string>> = {};
  let last = first;
  for (let tries = 1; "error" in last && tries < maxAttempts && mayBeOlder; tries++) {
    const step = olderThan(last.error, wanted);
    if (step === undefined) break;
    older = { ...older, ...step };
    last = await attempt(() => make({ ...wanted, ...older }));
  }
  if ("made" in last) return last.made;
  throw "error" in first ? first.error : last.error;
}

async function attempt<T>(make: () => Promise<T>): Promise<{ readonly made: T } | { readonly error: unknown }> {
  try {
    return { made: await make() };
  } catch (error) {
    return { error };
  }
}

/** What to ask for in place of a package that lacks an export or a path, and that no version is written for. */
function olderThan(error: unknown, wanted: Fit["wanted"]): Readonly<Record<string, string>> | undefined {
  if (!(error instanceof InvalidInput)) return undefined;
  const { package: name, version } = (error.details ?? {}) as { package?: unknown; version?: unknown }; // checked by what follows
  if (typeof name !== "string" || typeof version !== "string" || wanted[name] !== "latest") return undefined;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 0) return { [name]: `<${major}.0.0` };
  return minor > 0 ? { [name]: `<0.${minor}.0` } : undefined;
}
