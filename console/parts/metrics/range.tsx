import { useSearchParams } from "../search.ts";
import { text } from "./strings.ts";

export type RangeName = keyof typeof text.ranges;
const hourMs = 3_600_000;
const lengths: Readonly<Record<RangeName, number>> = { "1h": hourMs, "24h": 24 * hourMs, "7d": 7 * 24 * hourMs, "30d": 30 * 24 * hourMs };
const names = Object.keys(lengths) as readonly RangeName[];
const defaultRange: RangeName = "24h";

/** The chosen range, which is in the address, as a query: it begins with a whole minute, so that it is the same for a minute. */
export function useRange(): { readonly name: RangeName; readonly query: { readonly from: number } } {
  const [{ range }] = useSearchParams();
  const name = names.find((each) => each === range) ?? defaultRange;
  return { name, query: { from: startOfRange(name) } };
}

/** Epoch ms, a whole minute. */
export const startOfRange = (name: RangeName): number => Math.floor(Date.now() / 60_000) * 60_000 - lengths[name];

export function RangeChoice({ current }: { readonly current: RangeName }) {
  const [, setSearch] = useSearchParams();
  return (
    <div role="group" aria-label={text.range} className="flex flex-wrap gap-1">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === current}
          onClick={() => setSearch({ range: name === defaultRange ? undefined : name }, { replaces: true })}
          className={`rounded-md border px-2 py-1 text-sm ${name === current ? "border-accent bg-accent-soft text-text" : "border-line text-muted hover:text-text"}`}
        >
          {text.ranges[name]}
        </button>
      ))}
    </div>
  );
}
