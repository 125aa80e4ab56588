const units = ["B", "KiB", "MiB", "GiB"] as const;

/** `512 B`, `1.5 KiB`. */
export function sizeOf(bytes: number): string {
  const power = bytes < 1_024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const scaled = bytes / 1_024 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : Math.round(scaled * 10) / 10} ${units[power]}`;
}
