import { randomBytes } from "node:crypto";
import { NotFound } from "../../domain/errors.ts";
import { type FileChanges, type FileEntry, type RunFiles, type RunOfFiles, withChanges } from "../../domain/files/run-files.ts";

type FileCallKind = "list" | "read" | "write" | "copy";

/** Files of runs in memory, and what was asked of them. */
export interface MemoryRunFiles extends RunFiles {
  /** In order. */
  readonly calls: FileCallKind[];
  /** Each is thrown by one of the next calls of its kind. */
  readonly failures: { readonly on: FileCallKind; readonly error: Error }[];
  /** Stores changes as a layer, as the runner does when a step has returned. */
  layer(run: RunOfFiles, changes: FileChanges): Promise<string>;
}

export function memoryRunFiles(): MemoryRunFiles {
  const parts = new Map<string, Uint8Array>();
  const calls: MemoryRunFiles["calls"] = [];
  const failures: MemoryRunFiles["failures"][number][] = [];
  const keyOf = ({ owner, workflow, run }: RunOfFiles, part: string): string => JSON.stringify([owner, workflow, run, part]);
  const begin = (call: FileCallKind): void => {
    calls.push(call);
    const index = failures.findIndex(({ on }) => on === call);
    const [failure] = index < 0 ? [] : failures.splice(index, 1);
    if (failure !== undefined) throw failure.error;
  };
  const get = (run: RunOfFiles, part: string): Uint8Array => {
    const bytes = parts.get(keyOf(run, part));
    if (bytes === undefined) throw new NotFound(`the files of run ${run.run} are gone`, { code: "files_gone" });
    return bytes;
  };
  const put = (run: RunOfFiles, bytes: Uint8Array): string => {
    const part = `${randomBytes(16).toString("hex")}-${bytes.length}`;
    parts.set(keyOf(run, part), new Uint8Array(bytes));
    return part;
  };
  return {
    calls,
    failures,
    layer: async (run, changes) => put(run, Buffer.from(JSON.stringify(changes))),
    list: async (run, layers) => {
      begin("list");
      const changes = layers.map((layer) => JSON.parse(Buffer.from(get(run, layer)).toString()) as FileChanges); // Of `layer`.
      return changes.reduce<readonly FileEntry[]>(withChanges, []);
    },
    read: async (run, part) => {
      begin("read");
      return get(run, part);
    },
    write: async (run, bytes) => {
      begin("write");
      return put(run, bytes);
    },
    copy: async (run, names, to) => {
      begin("copy");
      const copies = names.map((part) => [keyOf({ ...run, run: to }, part), get(run, part)] as const);
      for (const [key, bytes] of copies) parts.set(key, bytes);
    },
  };
}
