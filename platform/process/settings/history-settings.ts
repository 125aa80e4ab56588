import { z } from "zod";
import { stepMs, type KeptMeasures } from "../../../domain/measures/steps.ts";
import { setting, wholeNumber } from "./settings.ts";

/** How much of the past is kept. */
export const historySettings = {
  HEADWATER_KEEP_EVENTS: setting(wholeNumber(1, 100_000), {
    unit: "number",
    default: "100",
    reason: "events stored per source",
  }),
  HEADWATER_KEEP_LOGS: setting(wholeNumber(1, 100_000), {
    unit: "number",
    default: "100",
    reason: "log entries and errors stored per source",
  }),
  // At most as many as postgres/measures/slots.ts has room for, and each longer than the one before.
  HEADWATER_KEEP_METRICS_BY_MINUTE: setting(wholeNumber(1, 30), {
    unit: "hours",
    default: "24",
    reason: "how long metrics by minute are kept; older ones are added to those by hour",
  }),
  HEADWATER_KEEP_METRICS_BY_HOUR: setting(wholeNumber(2, 40), {
    unit: "days",
    default: "30",
    reason: "how long metrics by hour are kept; older ones are added to those by day",
  }),
  HEADWATER_KEEP_METRICS_BY_DAY: setting(wholeNumber(41, 640), {
    unit: "days",
    default: "400",
    reason: "how long metrics by day are kept",
  }),
};

type HistoryEnvironment = z.output<z.ZodObject<typeof historySettings>>;

export const keptHistory = (env: HistoryEnvironment) => ({
  keepEvents: env.HEADWATER_KEEP_EVENTS,
  keepLogs: env.HEADWATER_KEEP_LOGS,
  keptMeasures: {
    minute: env.HEADWATER_KEEP_METRICS_BY_MINUTE * stepMs.hour,
    hour: env.HEADWATER_KEEP_METRICS_BY_HOUR * stepMs.day,
    day: env.HEADWATER_KEEP_METRICS_BY_DAY * stepMs.day,
  } satisfies KeptMeasures,
});
