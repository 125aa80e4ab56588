/** What the parent is asked to do with the files of the workflow run. */
export type FileCall =
  | { readonly kind: "list" }
  | { readonly kind: "read"; readonly part: string }
  | { readonly kind: "write"; readonly bytes: Uint8Array };

/** JSON text of the entries; the bytes of the part; the name of the stored part. */
export type FileResult = string | Uint8Array;

/**
 * Bytes of a part that a message of a guest stores: a call of `file_write`, or the arguments of a wait for it. They have a budget of their own,
 * since a run may store more than it may send otherwise.
 */
export function storedBytes(message: readonly unknown[]): number {
  const isCall = message[1] === "call";
  const [operation, args] = isCall ? [message[3], message[4]] : message;
  if (operation !== "file_write" || !Array.isArray(args)) return 0;
  const [bytes] = args as readonly unknown[];
  return bytes instanceof Uint8Array ? bytes.byteLength : 0;
}
