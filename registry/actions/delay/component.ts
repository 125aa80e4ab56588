import { defineAction } from "headwater/types";

const unitMs: Readonly<Record<string, number>> = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const maxMs = 366 * 86_400_000;

export default defineAction({
  name: "Delay",
  key: "headwater-delay",
  version: "1.0.0",
  type: "action",
  description: "Suspends the workflow run, then continues with the next step; nothing runs in the meantime",
  annotations: { released: "2026-11-23" },
  props: {
    amount: { type: "integer", label: "Amount", description: "How long to wait, in the unit below; at most 366 days", min: 0 },
    unit: { type: "string", label: "Unit", description: "Unit of the amount", options: Object.keys(unitMs), default: "seconds" },
  },
  run({ $ }) {
    const ms = this.amount * (unitMs[this.unit] ?? Number.NaN);
    if (Number.isNaN(ms))
      throw new Error(`delay of ${this.amount} ${this.unit} is invalid: use a number of ${Object.keys(unitMs).join(", ")}`);
    if (ms < 0 || ms > maxMs) throw new Error(`delay of ${this.amount} ${this.unit} is invalid: it must be 0 to 366 days`);
    $.export("$summary", `Waits ${this.amount} ${this.unit}`);
    return $.flow.delay(ms);
  },
});
