import type { RunOfFiles } from "../domain/files/run-files.ts";

/** The store of bundles, as the sweep sees it. */
export interface StoredBundles {
  list(): Promise<readonly StoredBundle[]>;
  /** Bundles to which deployments and versions refer. */
  deployed(): Promise<readonly BundleReference[]>;
  /** @returns false when a build has renewed it since it was listed */
  delete(bundle: StoredBundle): Promise<boolean>;
  /** Deletes parts of other bundles that were stored before that time, epoch ms: writes that were interrupted. */
  deleteOtherParts(kept: readonly StoredBundle[], before: number): Promise<void>;
  /** Corrects what owners are charged for, except owners whose builds have stored something in the last minutes. */
  correctCharges(charges: ReadonlyMap<string, number>): Promise<void>;
}

export interface StoredBundle {
  readonly hash: string;
  /** Whose build stored it; absent: unknown. */
  readonly owner?: string | undefined;
  /** With its source map. */
  readonly bytes: number;
  /** Epoch ms: stored, or renewed by a build. */
  readonly storedAt: number;
}

export interface BundleReference {
  readonly hash: string;
  readonly owner: string | undefined;
}

export interface RunWithFiles extends RunOfFiles {
  /** What its files take. */
  readonly bytes: number;
}

/** Files of the runs of workflows. */
export interface StoredFiles {
  /** Runs that have any; bytes of all files, and of the store: 0 or less if it has no limit. */
  list(): Promise<{ readonly runs: readonly RunWithFiles[]; readonly bytes: number; readonly maxBytes: number }>;
  /** Epoch ms; undefined: it has none any more. */
  lastStoredAt(run: RunOfFiles): Promise<number | undefined>;
  /** Whether the run is stored, and has not ended: its next step may need them. */
  isNeeded(run: RunOfFiles): Promise<boolean>;
  forget(run: RunOfFiles): Promise<void>;
}
