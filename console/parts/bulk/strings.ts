/** Texts of what is done to several items at once. */
export const text = {
  pause: "Pause",
  resume: "Resume",
  delete: "Delete",
  /** `Pause: 3 done` */
  changed: (label: string) => (count: string) => `${label}: ${count} done`,
  select: (name: string) => `Select ${name}`,
  selectAll: "Select all that are loaded",
  selected: (count: string) => `${count} selected`,
  clear: "Clear the selection",
  progress: (label: string, count: string, of: string) => `${label}: ${count} of ${of}`,
  stop: "Stop",
  undoing: "Undo",
  failed: (count: string) => `${count} could not be changed`,
  more: (count: string) => `and ${count} more`,
  confirm: (count: string) => `delete ${count}`,
} as const;
