import { describe, expect, it } from "vitest";
import type { ComponentDefinition, PropDefinition } from "../../../domain/component/definition.ts";
import { defaultEvent, type ManuallyRun } from "../../../domain/invocation/manual-event.ts";

const [timer, http]: PropDefinition[] = [
  { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } },
  { name: "http", type: "$.interface.http" },
] as const;
const nowMs = 1_700_000_000_999;
const of = (props: readonly (PropDefinition | undefined)[], given: Partial<ManuallyRun> = {}, needsEvent = true): unknown => {
  const definition: ComponentDefinition = {
    name: "c",
    type: "source",
    props: props.filter((prop) => prop !== undefined),
    hooks: [],
    hasAdditionalProps: given.configurableProps !== undefined,
    ...(needsEvent ? { needsEvent } : {}),
  };
  return defaultEvent({ definition, props: {}, endpoint: null, ...given }, nowMs);
};
const tick = { timestamp: 1_700_000_000, interval_seconds: 60 };
const request = { method: "GET", path: "/", query: {}, headers: {}, client_ip: "127.0.0.1" };

describe("a run without an event", () => {
  it("of a source with a timer gets a tick, with the configured schedule or the default one", () => {
    expect(of([timer])).toEqual(tick);
    expect(of([timer], { props: { timer: { cron: "0 9 * * *", timezone: "Europe/Berlin" } } })).toEqual({
      timestamp: 1_700_000_000,
      interval_seconds: null,
      cron: "0 9 * * *",
      timezone: "Europe/Berlin",
    });
  });

  it("of a source with an HTTP interface gets an empty request to its endpoint", () => {
    expect(of([http], { endpoint: "https://in.test/abc" })).toEqual({ ...request, url: "https://in.test/abc/" });
  });

  it("of a source with both gets a tick", () => {
    expect(of([http, timer])).toEqual(tick);
  });

  it("of a source whose timer is missing or invalid gets the event of the next interface", () => {
    const optional = { name: "timer", type: "$.interface.timer", optional: true };
    expect(of([optional, http])).toMatchObject(request);
    expect(of([optional, http], { props: { timer: "nonsense" } })).toMatchObject(request);
  });

  it("of a source whose additional props contain an interface gets the event of that interface", () => {
    expect(of([], { configurableProps: [timer as PropDefinition] })).toEqual(tick);
  });

  it("of a source without interfaces is refused if run needs an event, and gets no event otherwise", () => {
    expect(() => of([])).toThrow(/^event is needed: the source has neither a timer nor an HTTP interface/);
    expect(of([], {}, false)).toBeUndefined();
  });
});
