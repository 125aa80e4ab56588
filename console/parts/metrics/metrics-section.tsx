import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Metrics } from "../../../client/generated/operations.ts";
import { Loaded } from "../notices.tsx";
import { Section } from "../page.tsx";
import { Charts } from "./charts.tsx";
import { RangeChoice, useRange } from "./range.tsx";
import type { ChartKind } from "./series.ts";

interface MetricsSectionProps {
  readonly title: string;
  readonly kinds: readonly ChartKind[];
  readonly range: ReturnType<typeof useRange>["name"];
  readonly read: UseQueryResult<{ readonly data: Metrics }>;
  readonly children?: ReactNode;
}

/** How often numbers over time are read again. */
export const metricsEveryMs = 30_000;

/** Charts of a range that the reader chooses. */
export function MetricsSection({ title, kinds, range, read, children }: MetricsSectionProps) {
  return (
    <Section title={title} actions={<RangeChoice current={range} />}>
      {children}
      <Loaded isLoading={read.isPending} error={read.data === undefined ? read.error : null} retry={() => void read.refetch()}>
        {read.data !== undefined && <Charts metrics={read.data.data} kinds={kinds} />}
      </Loaded>
    </Section>
  );
}
