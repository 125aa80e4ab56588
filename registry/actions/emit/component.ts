import { defineAction } from "headwater/types";

export default defineAction({
  name: "Emit an Event",
  key: "headwater-emit",
  version: "1.0.0",
  type: "action",
  description: "Emits an event of the workflow to its subscribers when the run ends",
  annotations: { released: "2026-11-23" },
  props: {
    event: { type: "any", label: "Event", description: "Any JSON value, such as `{{steps.transform.$return_value}}`" },
    channel: { type: "string", label: "Channel", description: "Name of the channel; without one, the default channel", optional: true },
    summary: { type: "string", label: "Summary", description: "One line that describes the event", optional: true },
  },
  run({ $ }) {
    const { event, channel, summary } = this;
    $.send.emit({
      raw_event: event ?? null,
      ...(channel === undefined ? {} : { name: channel }),
      ...(summary === undefined ? {} : { summary }),
    });
    $.export("$summary", channel === undefined ? "Emits an event" : `Emits an event on ${channel}`);
  },
});
