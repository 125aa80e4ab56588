type Tone = "good" | "bad" | "warn" | "neutral";

const tones: Readonly<Record<Tone, string>> = { good: "text-good", bad: "text-bad", warn: "text-warn", neutral: "text-muted" };

/** Tones of states of all kinds; unknown ones are neutral. */
const toneOf: Readonly<Record<string, Tone>> = {
  active: "good",
  succeeded: "good",
  delivered: "good",
  healthy: "good",
  connected: "good",
  fired: "good",
  ok: "good",
  failing: "bad",
  circuit_open: "bad",
  failed: "bad",
  dead: "bad",
  disabled: "bad",
  unhealthy: "bad",
  refused: "bad",
  deploying: "warn",
  degraded: "warn",
  retry: "warn",
  late: "warn",
  lost: "warn",
  suspended: "warn",
  waiting: "warn",
};

/** A state as a word with a coloured dot: colour is never the only sign. */
export function State({ state, label = state }: { readonly state: string; readonly label?: string }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 text-sm font-medium min-[12rem]:whitespace-nowrap ${tones[toneOf[state] ?? "neutral"]}`}
    >
      <span aria-hidden className="size-2 rounded-full bg-current" />
      {label}
    </span>
  );
}
