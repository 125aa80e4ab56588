import { startChild } from "../child.ts";
import { owner } from "../deploy.ts";
import type { Received } from "../measure/event-ledger.ts";
import type { System } from "../system.ts";
import { until } from "../../../test/support/until.ts";

/** Each source commits again when the events of a commit have been received. */
export interface EventLoad {
  readonly sources: readonly string[];
  readonly commitsPerSource: number;
  readonly eventsPerCommit: number;
  /** Characters added to each event. */
  readonly padding: number;
}

export type EventOrder = { readonly do: "start"; readonly load: EventLoad } | { readonly do: "stop" } | { readonly do: "report" };

/** Emitters and webhook endpoints, in a process of their own: see `event-load.ts`. */
export interface Events {
  readonly ports: readonly number[];
  start(load: EventLoad): Promise<void>;
  /** Resolves when every event has been received. @throws when that takes too long */
  stop(): Promise<void>;
  /** Since the last report. */
  report(): Promise<Received>;
  end(): Promise<void>;
}

export async function startEvents({ nats }: Pick<System, "nats">, endpoints: number): Promise<Events> {
  const child = startChild<unknown>("load/event-load", { nats, owner, endpoints });
  const { ports } = (await child.next()) as { ports: readonly number[] }; // Its first message.
  const order = async (what: EventOrder): Promise<Received> => {
    const answer = child.next();
    child.send(what);
    return (await answer) as Received; // It answers each order with a report.
  };
  return {
    ports,
    start: async (load) => void (await order({ do: "start", load })),
    stop: async () => {
      await order({ do: "stop" });
      await until(async () => (await order({ do: "report" })).waiting === 0, "every event is received");
    },
    report: () => order({ do: "report" }),
    end: () => child.stop(),
  };
}
