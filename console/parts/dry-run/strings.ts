export const text = {
  wouldEmit: "Would emit",
  wouldStore: "Would store",
  verdicts: { emitted: "new", duplicate: "duplicate: dedupe has seen its id", refused: "refused: dedupe cannot compare its id" },
  response: "HTTP response",
  none: "–",
} as const;
