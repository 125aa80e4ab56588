import { defineSource } from "headwater/types";

export default defineSource({
  name: "Schedule",
  key: "headwater-schedule",
  version: "1.0.0",
  type: "source",
  description: "Emits an event at every tick of an interval or a cron expression in a time zone",
  annotations: { released: "2026-11-21" },
  props: {
    db: "$.service.db",
    timer: {
      type: "$.interface.timer",
      label: "Schedule",
      description: 'An interval, `{"intervalSeconds": 3600}`, or `{"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}`',
      default: { intervalSeconds: 3_600 },
    },
    payload: { type: "object", label: "Payload", description: "Goes with each event, as `payload`", optional: true },
  },
  run(event) {
    // Run by hand there is no tick.
    const ms = typeof event?.timestamp === "number" ? event.timestamp * 1_000 : Date.now();
    const count = Number(this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    const time = new Date(ms).toISOString();
    this.$emit(
      {
        time,
        timestamp: Math.floor(ms / 1_000),
        count,
        cron: event?.cron ?? null,
        timezone: event?.timezone ?? null,
        payload: this.payload ?? null,
      },
      { id: count, summary: `Tick ${count} at ${time}`, ts: ms },
    );
  },
});
