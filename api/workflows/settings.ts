import type { WorkflowSpec } from "../../crds/workflow.ts";
import type { Answered } from "../http/response/answered.ts";
import type { SettingsFields } from "./request.ts";
import type { workflowSchema } from "./schemas.ts";

type Settings = WorkflowSpec["settings"];

/** The settings after a request: absent ones stay, and null removes one. */
export function settingsIn(given: SettingsFields | undefined, before: Settings): Settings {
  if (given === undefined) return before;
  const {
    concurrency = before.concurrency,
    queue_size = before.queueSize,
    ordered = before.ordered,
    error_mails = before.errorMails,
  } = given;
  const throttle = given.throttle === undefined ? before.throttle : given.throttle && throttleOf(given.throttle);
  return {
    ordered,
    errorMails: error_mails,
    ...(isSet(concurrency) ? { concurrency } : {}),
    ...(isSet(throttle) ? { throttle } : {}),
    ...(isSet(queue_size) ? { queueSize: queue_size } : {}),
  };
}

const isSet = <Value>(value: Value): value is NonNullable<Value> => value !== undefined && value !== null;

const throttleOf = ({ runs, interval_seconds }: { readonly runs: number; readonly interval_seconds: number }) => ({
  runs,
  intervalSeconds: interval_seconds,
});

export function settingsShown(settings: Partial<Settings> | undefined): Answered<typeof workflowSchema>["settings"] {
  const { concurrency = null, throttle, queueSize = null, ordered = false, errorMails = true } = settings ?? {};
  return {
    concurrency,
    throttle: throttle === undefined ? null : { runs: throttle.runs, interval_seconds: throttle.intervalSeconds },
    queue_size: queueSize,
    ordered,
    error_mails: errorMails,
  };
}
