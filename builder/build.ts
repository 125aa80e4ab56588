import { checkComponentCode, identityOf } from "../domain/component/component-code.ts";
import type { Build } from "../domain/component/definition.ts";
import { pinnedPackage } from "../domain/component/npm-origin.ts";
import type { Warning } from "../domain/component/warning.ts";
import { bundle, type BundleText } from "./bundle/bundle.ts";
import type { BuildCache } from "./bundle/build-cache.ts";
import type { Deadline } from "./deadline.ts";
import { planDependencies, type Dependencies } from "./npm/dependencies.ts";
import type { EsbuildLane } from "./bundle/esbuild-lane.ts";
import { sha256 } from "./cache/hash.ts";
import { refuse } from "./errors.ts";
import { inspect, type InspectionResult } from "./inspect.ts";
import { inspectEither } from "./inspect-either.ts";
import type { BuildLimits } from "./limits.ts";
import { modulesOf, type Modules } from "./scan/modules.ts";
import { explainInstall } from "./npm/errors.ts";
import { lockedIn, parseLockfile, restoreWishes } from "./npm/lockfile.ts";
import type { PackageSet, PackageStore } from "./npm/package-store.ts";
import { withFittingPackages } from "./npm/older-packages.ts";
import type { BuilderPorts, BuildRequest } from "./ports.ts";
import { scan, type Scan } from "./scan/scan.ts";

export interface BuildParts {
  readonly ports: BuilderPorts;
  readonly limits: BuildLimits;
  readonly cache: BuildCache;
  readonly packages: PackageStore;
  readonly esbuild: EsbuildLane;
}

/** Part of the cache's key. Increase it whenever the same code would give a different build. */
const buildVersion = "5";

/** Equal for requests that give the same build. */
export function buildKey({ language = "auto", lockfile = null, ...code }: BuildRequest): string {
  return sha256(buildVersion, language, lockfile ?? "", identityOf(code));
}

/**
 * Component code in, bundle and definition out.
 * @throws InvalidInput (422) for errors that its author can correct, with {@link BuildErrorDetails}; LimitExceeded (413); Unavailable (503).
 */
export async function build(request: BuildRequest, parts: BuildParts, deadline: Deadline): Promise<Build> {
  const { ports, limits, cache } = parts;
  checkComponentCode(request, { files: limits.files, bytes: limits.codeBytes });
  const key = buildKey(request);
  const known = await cache.find(key);
  if (known && (await deadline.during("store", isStored(known.bundle, request.owner ?? "", parts)))) return known;

  const modules = modulesOf(request);
  const owner = request.owner ?? "";
  const scanned = await deadline.inTurn("scan", (begin) =>
    parts.esbuild.run(owner, () => (begin(), scan(modules, request.language ?? "auto")), limits.scanMs),
  );
  const dependencies = planDependencies(scanned.imports);
  const lockfile = request.lockfile ?? null;
  const { language, esModules } = scanned;
  const bundleOf = (directory: string, isSloppy: boolean): Promise<BundleText> => {
    const input = { modules, language, esModules, dependencies, packages: directory, isSloppy };
    return deadline.inTurn("bundle", (begin) =>
      parts.esbuild.run(owner, () => (begin(), bundle(input, limits, deadline.signal)), limits.bundleMs),
    );
  };
  const look = async (text: BundleText): Promise<InspectionResult> => {
    await cache.writeBundle(text);
    const asked = { inspector: ports.inspector, owner, timeoutMs: limits.inspectMs };
    return deadline.during("inspect", inspect(asked, text, cache.bundlePath(text.hash), modules));
  };
  const { packages, first } = await withFittingPackages({ wanted: dependencies.wanted, mayBeOlder: lockfile === null }, async (wanted) => {
    const set = await deadline.during("install", provide({ modules, lockfile, owner }, scanned, wanted, parts));
    return { packages: set, first: await bundleOf(set.directory, false) };
  });
  const { bundled, inspected } = await inspectEither(first, look, () => bundleOf(packages.directory, true));
  const { definition } = inspected;
  const warnings = [...inspected.warnings, ...deprecationOf(modules, packages.lockfile)];
  await deadline.during("store", store(bundled, owner, parts));

  const made: Build = {
    codeHash: sha256(request.code),
    bundle: bundled.hash,
    bundleBytes: Buffer.byteLength(bundled.text),
    needsNode: bundled.needsNode || definition.props.some(({ type }) => type === "file" || type === "file[]"),
    definition,
    lockfile: packages.lockfile && restoreWishes(packages.lockfile, dependencies.wanted),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  await cache.add(key, made);
  // A request with the resulting lockfile has the same result.
  await cache.add(buildKey({ ...request, lockfile: made.lockfile }), made);
  return made;
}

async function provide(
  request: { readonly modules: Modules; readonly lockfile: string | null; readonly owner: string },
  scanned: Scan,
  wanted: Dependencies["wanted"],
  parts: BuildParts,
): Promise<Omit<PackageSet, "lockfile"> & { lockfile: string | null }> {
  if (Object.keys(wanted).length === 0) return { directory: parts.packages.empty, lockfile: null };
  const lockfile = request.lockfile ? parseLockfile(request.lockfile, parts.limits) : null;
  try {
    const set = await parts.packages.provide(wanted, lockfile, request.owner);
    checkPin(request.modules, set.lockfile);
    return set;
  } catch (error) {
    throw explainInstall(error, request.modules, scanned.imports);
  }
}

/** A generated module pins its package by a hash, so that a registry cannot exchange what a version is. */
function checkPin({ entry, texts }: Modules, lockfile: string): void {
  const pinned = pinnedPackage(texts.get(entry) ?? "");
  if (pinned === undefined || lockedIn(lockfile, pinned.name).integrity === pinned.integrity) return;
  throw refuse(
    "integrity_mismatch",
    `package ${pinned.name}@${pinned.version} is no longer the one that this component was saved with: save it again if you trust the registry`,
    { package: pinned.name, version: pinned.version },
  );
}

/** A package whose publisher advises against its version, where the component comes from it. */
function deprecationOf({ entry, texts }: Modules, lockfile: string | null): readonly Warning[] {
  const pinned = pinnedPackage(texts.get(entry) ?? "");
  const deprecated = pinned === undefined || lockfile === null ? undefined : lockedIn(lockfile, pinned.name).deprecated;
  if (pinned === undefined || deprecated === undefined || deprecated === "") return [];
  const message = `package ${pinned.name}@${pinned.version} is deprecated: ${deprecated.slice(0, 500)}`;
  return [{ code: "package_deprecated", message, path: "component_url" }];
}

/** Stores a bundle for runners. */
function store({ hash, text, map }: BundleText, owner: string, { ports }: BuildParts): Promise<void> {
  return ports.bundles.store({ hash, text: Buffer.from(text), map: Buffer.from(map) }, owner);
}

/** Stores a cached bundle again if the store has lost it. If the disk has lost it as well, the build is repeated. */
async function isStored(hash: string, owner: string, { ports, cache }: BuildParts): Promise<boolean> {
  if (await ports.bundles.keep(hash)) return true;
  const texts = await cache.readBundle(hash);
  if (!texts) return false;
  await ports.bundles.store({ hash, ...texts }, owner);
  return true;
}
