import { defineSource } from "headwater/types";

/** When the last signal arrived, and whether its absence was reported. */
interface State {
  /** Epoch ms. */
  readonly heard: number;
  readonly count: number;
  readonly missing: boolean;
}

export default defineSource({
  name: "Heartbeat",
  key: "headwater-heartbeat",
  version: "1.0.0",
  type: "source",
  description: "Expects requests to its address, or events of other sources, within a time; emits when they stop and when they come again",
  annotations: { released: "2026-11-21" },
  props: {
    db: "$.service.db",
    http: { type: "$.interface.http", label: "Endpoint", description: "Any request to it is a sign of life" },
    timer: {
      type: "$.interface.timer",
      label: "Check",
      description: "How often it is looked whether signs of life have stopped",
      default: { intervalSeconds: 60 },
    },
    withinSeconds: {
      type: "integer",
      label: "Within",
      description: "Seconds without a sign of life after which it is missing",
      min: 1,
      default: 300,
    },
    repeat: { type: "boolean", label: "Repeat", description: "Emit at every check while it is missing, rather than once", default: false },
  },
  hooks: {
    // It has all of the time from when the source was made, or set to work again.
    activate() {
      this.remember({ heard: Date.now(), count: this.state().count, missing: false });
    },
  },
  methods: {
    state(): State {
      return this.db.get("state") ?? { heard: Date.now(), count: 0, missing: false };
    },
    remember(state: State): void {
      this.db.set("state", state);
    },
    hear(): void {
      const { heard, count, missing } = this.state();
      const now = Date.now();
      this.remember({ heard: now, count: count + 1, missing: false });
      if (missing) this.report("recovered", heard, now);
    },
    check(): void {
      const state = this.state();
      const now = Date.now();
      const isSilent = now - state.heard > this.withinSeconds * 1_000;
      // Also the first time, when nothing was remembered: the time begins now.
      this.remember({ ...state, missing: isSilent });
      if (isSilent && (!state.missing || this.repeat)) this.report("missing", state.heard, now);
    },
    report(status: "missing" | "recovered", heard: number, now: number): void {
      const seconds = Math.round((now - heard) / 1_000);
      const summary = status === "missing" ? `Nothing for ${seconds} s` : `Back after ${seconds} s`;
      this.$emit({ status, last_heard: new Date(heard).toISOString(), silent_seconds: seconds }, { summary, ts: now });
    },
  },
  run(event) {
    if (isTick(event)) this.check();
    else this.hear();
  },
});

/** An event of another source may have a timestamp, and has no interval. */
function isTick(event: unknown): boolean {
  return typeof event === "object" && event !== null && "timestamp" in event && "interval_seconds" in event && !("method" in event);
}
