import { expect } from "vitest";
import { withSystem, type SharedSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import type { Called } from "../../support/system/client.ts";
import { deploy, type Source } from "../../support/system/sources.ts";

export interface Run {
  readonly status: string;
  readonly result: unknown;
  readonly error: { readonly name: string; readonly message: string; readonly code?: string; readonly stack?: string } | null;
  readonly logs: readonly { readonly k: string; readonly msg?: string; readonly err?: { readonly message: string } }[];
  readonly event_ids: readonly string[];
}
export interface Stored {
  readonly id: string;
  readonly event: unknown;
  readonly metadata: { readonly id: string | null; readonly name: string; readonly summary: string | null; readonly ts: number };
}
export interface Answered {
  readonly data: { readonly id: string; readonly configured_props: { readonly http?: { readonly endpoint_url: string } } };
}

export interface RunWorld {
  readonly headwater: SharedSystem;
  create(code: string, props?: object, more?: object): Promise<Called<Answered>>;
  deploy(code: string, props?: object, more?: object): Promise<Source>;
  /** Runs the source at once with this event. */
  run(event: unknown, source: Source): Promise<Run>;
  /** The newest events in the history, oldest first. */
  stored(source: Source, limit?: number): Promise<readonly Stored[]>;
  /** The events of a run, once the history has them. */
  eventsOf(run: Run, source: Source): Promise<readonly Stored[]>;
}

/** A user of the shared system, and the calls that tests of runs repeat. */
export function withRunWorld(): RunWorld {
  const headwater = withSystem();
  const world: RunWorld = {
    headwater,
    create: (code, props = {}, more = {}) => headwater.call("POST", "/sources", { component_code: code, configured_props: props, ...more }),
    deploy: (code, props, more) => deploy(headwater, code, props, more),
    run: async (event, { id }) => {
      const { status, body, text } = await headwater.call<{ data: Run }>("POST", `/sources/${id}/runs`, { event });
      expect(status, text).toBe(200);
      return body.data;
    },
    stored: async ({ id }, limit = 100) => {
      const { body } = await headwater.call<{ data: Stored[] }>("GET", `/sources/${id}/event_summaries?expand=event&limit=${limit}`);
      return body.data.toReversed();
    },
    eventsOf: async ({ event_ids: ids }, source) => {
      let found: readonly Stored[] = [];
      const isComplete = async (): Promise<boolean> => {
        found = (await world.stored(source)).filter(({ id }) => ids.includes(id));
        return found.length === Math.min(ids.length, 100);
      };
      await until(isComplete, "the events of a run are kept");
      return found;
    },
  };
  return world;
}

export const payloads = (events: readonly Stored[]): readonly unknown[] => events.map(({ event }) => event);
