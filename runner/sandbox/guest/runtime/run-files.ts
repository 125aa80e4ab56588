import { onRunEnd, post } from "./bridge.ts";
import { ruleError } from "./errors.ts";

/** The files of one run of a step: `/tmp` is that of its workflow run, and not the context's own. */
export interface FileSession {
  /** Whether earlier steps have left files. */
  readonly hasStored: boolean;
}

/** Stores what the run has changed. JSON text of the changes; undefined if there are none. */
type StoreChanges = (session: FileSession) => Promise<string | undefined> | undefined;

/** Stores the list of the parts of a file as they are now. The name of the part that has it. */
type StoreManifest = (path: string) => Promise<string>;

let session: FileSession | undefined;
let storeChanges: StoreChanges | undefined;
let storeList: StoreManifest | undefined;

/** @param hasStored undefined: the run uses the files of its context */
export function beginFiles(hasStored: boolean | undefined): void {
  session = hasStored === undefined ? undefined : { hasStored };
}

export const fileSession = (): FileSession | undefined => session;

/** Called by the file system of the Node layer when it is first used in this context. */
export function onFilesStore(store: StoreChanges): void {
  storeChanges = store;
}

/** Called as `onFilesStore` is. */
export function onManifest(store: StoreManifest): void {
  storeList = store;
}

/** @param path of an existing file, below /tmp */
export async function storeManifest(path: string): Promise<string> {
  if (session === undefined || storeList === undefined) throw ruleError("files_unavailable", "this context has no files of a run");
  return await storeList(path);
}

/** Called when the step has returned. Undefined if there is nothing to wait for: most steps use no files. */
export function storeFiles(): Promise<void> | undefined {
  const storing = session === undefined ? undefined : storeChanges?.(session);
  return storing === undefined ? undefined : postChanges(storing);
}

async function postChanges(storing: Promise<string | undefined>): Promise<void> {
  const changes = await storing;
  if (changes !== undefined) post("files", changes);
}

onRunEnd(() => {
  session = undefined;
});
