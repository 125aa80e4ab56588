/** Texts of the shared parts. */
export const text = {
  cancel: "Cancel",
  close: "Close",
  copy: "Copy",
  copied: "Copied",
  loading: "Loading…",
  retry: "Try again",
  undo: "Undo",
  failed: "This could not be loaded",
  more: "Load more",
  dismiss: "Dismiss",
  required: "required",
  show: "Show",
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
  truncated: "The rest is not shown.",
} as const;
