import type { Resource } from "../crds/resource.ts";
import type { HistoryReference, OperatorPorts } from "./ports.ts";

export interface HistorySweepLimits {
  readonly intervalMs: number;
  /** A history is deleted when nothing has referred to it for this time: longer than a run in flight, and than the steps of a restore. */
  readonly graceMs: number;
}

export const defaultHistorySweepLimits: HistorySweepLimits = { intervalMs: 10 * 60_000, graceMs: 60 * 60_000 };

interface Identified {
  values(): Iterable<Resource<unknown, { readonly id?: string | undefined }>>;
}

type Ports = Pick<OperatorPorts, "histories" | "clock" | "log">;

/**
 * Deletes histories of sources and workflows that have neither a resource nor a deployment entry: a run that was in flight has committed
 * after the deletion, or NATS was still copying its commit.
 */
export function historySweeper(ports: Ports, kinds: readonly Identified[], limits: HistorySweepLimits = defaultHistorySweepLimits) {
  /** Since when nothing has referred to a history. A new leader begins again. */
  let unreferenced = new Map<string, number>();
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    const now = ports.clock.now();
    // Listed first: histories that begin after that are not among them.
    const stored = await ports.histories.list();
    const referenced = new Set([...(await ports.histories.deployed()), ...idsOf(kinds)]);
    const unused = stored.filter(({ source }) => !referenced.has(source));
    unreferenced = new Map(unused.map((history) => [keyOf(history), unreferenced.get(keyOf(history)) ?? now]));
    for (const history of unused) {
      signal.throwIfAborted();
      if ((unreferenced.get(keyOf(history)) ?? now) > now - limits.graceMs) continue;
      await ports.histories.forget(history.owner, history.source);
      ports.log.info(
        { op: "history.sweep", "source.id": history.source, "owner.id": history.owner },
        "deleted the history of a deleted source",
      );
    }
    return limits.intervalMs;
  };
}

const keyOf = ({ owner, source }: HistoryReference): string => `${owner} ${source}`;

const idsOf = (kinds: readonly Identified[]): readonly string[] =>
  kinds.flatMap((kind) => [...kind.values()].flatMap(({ status: { id } }) => (id === undefined ? [] : [id])));
