/** What the parent is asked to do with the files of the workflow run. */
export type FileCall =
  | { readonly kind: "list" }
  | { readonly kind: "read"; readonly part: string }
  | { readonly kind: "write"; readonly bytes: Uint8Array };

/** JSON text of the entries; the bytes of the part; the name of the stored part. */
export type FileResult = string | Uint8Array;
