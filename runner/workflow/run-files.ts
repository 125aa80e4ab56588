import {
  fileLimits,
  fileRetries,
  totalBytes,
  withChanges,
  type FileChanges,
  type FileEntry,
  type RunFiles,
  type RunOfFiles,
} from "../../domain/files/run-files.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { Execution } from "../sandbox/port.ts";
import type { StepEnd } from "./next-state.ts";

/** What an attempt of a step has changed of the files of its run, stored and not committed yet. */
export interface ChangedFiles {
  readonly layer: string;
  /** A layer that has all of others; absent: they were few. */
  readonly joined?: { readonly layers: readonly string[]; readonly as: string };
}

/** So many layers are read by a step that uses files. */
const joinedLayers = 16;

export interface KeptExecution {
  readonly execution: Execution;
  readonly files?: ChangedFiles;
}

/**
 * Stores what an execution has changed of the files of its run. If there is no room for it, the execution counts as one that threw.
 * @param layers of the run when the step began @throws Unavailable
 */
export async function keepFiles(
  execution: Execution,
  run: RunOfFiles,
  layers: readonly string[],
  files: RunFiles | undefined,
): Promise<KeptExecution> {
  const changes = execution.outcome === "returned" ? execution.action?.files : undefined;
  if (execution.outcome !== "returned" || changes === undefined || files === undefined) return { execution };
  try {
    const before = layers.length === 0 ? [] : await retry(() => files.list(run, layers), fileRetries);
    const refusal = tooMany(withChanges(before, changes));
    if (refusal !== undefined) return { execution: refused(execution, refusal) };
    const join = async (): Promise<ChangedFiles["joined"]> => ({ layers, as: await writeLayer({ removed: [], put: before }, run, files) });
    // Steps side by side may have stored more than a layer can have: a later step that deletes some makes room.
    const joined = layers.length < joinedLayers || tooMany(before) !== undefined ? undefined : await join();
    const layer = await writeLayer(changes, run, files);
    return { execution, files: { layer, ...(joined && { joined }) } };
  } catch (error) {
    if (!(error instanceof HeadwaterError) || error instanceof Unavailable) throw error;
    return { execution: refused(execution, { name: "LimitError", code: error.code, message: error.message }) };
  }
}

/** The end of a step with what it has changed: nothing if it has failed. Steps that ran beside it may have added layers in the meantime. */
export function withFiles(end: StepEnd, files: ChangedFiles | undefined): StepEnd {
  if (files === undefined || end.error !== null) return end;
  return { ...end, state: { ...end.state, files: layersWith(end.state, files) } };
}

function layersWith(state: WorkflowRunState, { layer, joined }: ChangedFiles): readonly string[] {
  const layers = state.files ?? [];
  const isJoined = joined !== undefined && joined.layers.every((each, index) => layers[index] === each);
  const before = isJoined ? [joined.as, ...layers.slice(joined.layers.length)] : layers;
  return [...before, layer];
}

export const writeLayer = (changes: FileChanges, run: RunOfFiles, files: RunFiles): Promise<string> =>
  retry(() => files.write(run, new TextEncoder().encode(JSON.stringify(changes))), fileRetries);

/** Why a run cannot have these files. */
export function tooMany(entries: readonly FileEntry[]): RunError | undefined {
  const [bytes, listed] = [totalBytes(entries), Buffer.byteLength(JSON.stringify(entries))];
  const { runBytes, entries: maxEntries, listingBytes } = fileLimits;
  if (bytes <= runBytes && entries.length <= maxEntries && listed <= listingBytes) return undefined;
  const message = `the run would have ${entries.length} files and directories of ${bytes} bytes, with names of ${listed} bytes: it may have ${maxEntries}, ${runBytes} bytes, and names of ${listingBytes}; delete those that later steps do not need`;
  return { name: "LimitError", code: "files_full", message };
}

/** It has no effect on the run but its log. */
function refused({ result: _, ...products }: Extract<Execution, { outcome: "returned" }>, error: RunError): Execution {
  return { ...products, outcome: "threw", error };
}
