const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** Time since then, as kubectl shows it: `5s`, `12m`, `3h`, `8d`. */
export function age(epochSeconds: number | null | undefined, nowMs: number = Date.now()): string {
  if (epochSeconds === null || epochSeconds === undefined) return "-";
  const seconds = Math.max(0, Math.round(nowMs / 1_000 - epochSeconds));
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ["s", 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

export const ageOfMs = (epochMs: number | null | undefined): string =>
  age(epochMs === null || epochMs === undefined ? epochMs : epochMs / 1_000);

/** Local time of day, for lines that follow each other. */
export const timeOfDay = (epochMs: number): string => {
  const at = new Date(epochMs);
  return `${[at.getHours(), at.getMinutes(), at.getSeconds()].map((each) => String(each).padStart(2, "0")).join(":")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
};

export const dateTime = (epochMs: number): string => new Date(epochMs).toISOString();
