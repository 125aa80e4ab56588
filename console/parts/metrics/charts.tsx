import type { Metrics } from "../../../client/generated/operations.ts";
import { Chart } from "./chart.tsx";
import type { ChartKind } from "./series.ts";

/** Charts side by side where there is room. */
export function Charts({ metrics: { points, total }, kinds }: { readonly metrics: Metrics; readonly kinds: readonly ChartKind[] }) {
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,18rem),1fr))] gap-x-6 gap-y-4">
      {kinds.map((kind) => (
        <Chart key={kind.title} kind={kind} points={points} total={total} />
      ))}
    </div>
  );
}
