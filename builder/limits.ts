import { codeLimits } from "../domain/component/component-code.ts";

const mebibyte = 2 ** 20;

/** Limits of one build. Every message that names a limit reads it from here. */
export interface BuildLimits {
  /** Of all modules of a component together. */
  readonly codeBytes: number;
  /** Modules beside the entry. */
  readonly files: number;
  readonly bundleBytes: number;
  /** Packages in the tree, direct and transitive. */
  readonly packages: number;
  /** Of one set of packages on disk. */
  readonly unpackedBytes: number;
  /** Files and folders of one set. */
  readonly unpackedFiles: number;
  readonly lockfileBytes: number;
  /** Builds in progress and in the queue; further ones are rejected. */
  readonly waiting: number;
  /** Of one owner. */
  readonly waitingOfOwner: number;
  /** From request to response, including the time in the queue. */
  readonly buildMs: number;
  readonly scanMs: number;
  readonly bundleMs: number;
  readonly inspectMs: number;
  /** All sets of packages together; the least recently used go first. */
  readonly storeBytes: number;
  /** npm's cache of tarballs and responses; it is cleared when it is larger. */
  readonly cacheBytes: number;
  /** Bundles, and cached builds, each; the oldest are deleted first. */
  readonly keptBytes: number;
  /** Time after which versions are resolved again for builds without a lockfile. */
  readonly freshMs: number;
}

export const defaultLimits: BuildLimits = {
  codeBytes: codeLimits.bytes,
  files: codeLimits.files,
  bundleBytes: 24 * mebibyte,
  packages: 600,
  unpackedBytes: 320 * mebibyte,
  unpackedFiles: 60_000,
  lockfileBytes: 2 * mebibyte,
  waiting: 64,
  waitingOfOwner: 16,
  buildMs: 60_000,
  scanMs: 10_000,
  bundleMs: 40_000,
  inspectMs: 10_000,
  // Together with the next two, less than the default disk of a builder's pod (4 GiB).
  storeBytes: 2 * 1024 * mebibyte,
  cacheBytes: 768 * mebibyte,
  keptBytes: 256 * mebibyte,
  freshMs: 24 * 3_600_000,
};

/** `1.5 MiB`; whole numbers stay whole. */
export function formatBytes(bytes: number): string {
  return bytes < mebibyte ? `${bytes} bytes` : `${Math.round((bytes / mebibyte) * 10) / 10} MiB`;
}
