import { startChild } from "../child.ts";
import { owner } from "../deploy.ts";
import type { Received } from "../measure/event-ledger.ts";
import { until } from "./runs.ts";
import type { System } from "../system.ts";

/** Sources that emit alike. */
export interface EventGroup {
  readonly name: string;
  readonly sources: readonly string[];
  /** Webhooks that hear each of their events. */
  readonly listeners: number;
  /** Events of each commit. */
  readonly perCommit: number;
  /** Characters added to each event. */
  readonly padding: number;
  readonly pace: EventPace;
}

export type EventPace =
  | { readonly kind: "steady"; /** Events. */ readonly perSecond: number }
  /** Each source commits again when the events of a commit have arrived. */
  | { readonly kind: "saturated"; readonly commitsPerSource: number }
  /** So many at once. */
  | { readonly kind: "once"; readonly events: number };

export type EventOrder =
  | { readonly do: "start"; readonly group: EventGroup }
  | { readonly do: "stop"; readonly group: string }
  | { readonly do: "report" }
  | { readonly do: "wait"; readonly group: string }
  | { readonly do: "up" };

/** Emitters and endpoints, in a process of their own: see `event-load.ts`. */
export interface Events {
  readonly ports: readonly number[];
  /** A port without a listener. */
  readonly closedPort: number;
  /** Resolves when it has begun; events that are sent once: when all are stored. */
  start(group: EventGroup): Promise<void>;
  stop(group: string): Promise<void>;
  /** Resolves when every delivery of the group has come. @throws when they do not in time */
  arrived(group: string, timeoutMs?: number): Promise<void>;
  /** Of each group since the last report. */
  report(): Promise<(group: string) => Received>;
  /** Endpoints that were down accept from now on. */
  up(): Promise<void>;
  end(): Promise<void>;
}

export async function startEvents({ nats }: Pick<System, "nats">, receivers: number): Promise<Events> {
  const child = startChild<unknown>("load/event-load", { nats, owner, receivers });
  const { ports, closedPort } = (await child.next()) as { ports: readonly number[]; closedPort: number }; // Its first message.
  const order = async (what: EventOrder): Promise<unknown> => {
    const answer = child.next();
    child.send(what);
    return answer;
  };
  return {
    ports,
    closedPort,
    start: async (group) => void (await order({ do: "start", group })),
    stop: async (group) => void (await order({ do: "stop", group })),
    arrived: (group, timeoutMs = 30_000) =>
      until(
        async () => ((await order({ do: "wait", group })) as { waiting: number }).waiting === 0, // Its answer to this order.
        `all deliveries of ${group} arrive`,
        timeoutMs,
        100,
      ),
    report: async () => {
      const reports = (await order({ do: "report" })) as Readonly<Record<string, Received>>; // Its answer to this order.
      return (group) => {
        const received = reports[group];
        if (received === undefined) throw new Error(`nothing was sent by ${group}`);
        return received;
      };
    },
    up: async () => void (await order({ do: "up" })),
    end: () => child.stop(),
  };
}

/** `p50/p95/p99 1.0/2.0/3.0 ms` */
export const formatTimes = ({ p50, p95, p99 }: Pick<Received, "p50" | "p95" | "p99">): string =>
  `p50/p95/p99 ${[p50, p95, p99].map((ms) => ms.toFixed(1)).join("/")} ms`;
