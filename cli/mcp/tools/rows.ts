import type {
  Attempt,
  DeadLetter,
  Event,
  FailedSend,
  ListedSendAttempt,
  LogLine,
  Run,
  SearchItem,
  WorkflowRun,
} from "../../../client/generated/operations.ts";
import type { Item } from "../../kinds/kind.ts";
import { cuttable, cuttableJson, secondOf, type Row } from "./answer.ts";

/** Fields of the items of a list, by kind: of accounts and variables names and states only. */
export const fieldsOfKinds: Readonly<Record<string, readonly string[]>> = {
  sources: ["id", "name_slug", "state", "problem", "last_run_at"],
  workflows: ["id", "name", "state", "problem", "updated_at"],
  components: ["id", "key", "name", "version", "type"],
  webhooks: ["id", "name", "url", "state", "problem"],
  subscriptions: ["id", "emitter_id", "event_name", "listener_id"],
  "auto-subscriptions": ["id", "event_name", "listener_id"],
  accounts: ["id", "app", "name", "healthy", "needs_reconnect", "problem"],
  apps: ["name_slug", "kind", "origin"],
  "oauth-clients": ["id", "app", "healthy", "problem"],
  variables: ["name", "secret", "origin", "healthy", "problem"],
  "data-stores": ["id", "name", "entries", "bytes"],
  orgs: ["id", "orgname", "name"],
  keys: ["id", "name", "scopes", "expires_at", "last_used_at"],
  registry: ["key", "version", "type", "name", "description"],
};

const whole: ReadonlySet<string> = new Set(["id", "key", "emitter_id", "listener_id", "state", "type", "version", "origin", "kind"]);

/** Names in place of ids. */
const references: Readonly<Record<string, string>> = { variables: "name", apps: "name_slug" };

/** An item of `hw list`. */
export function itemRow(kind: string, item: Item): Row {
  const isWhole = (field: string): boolean => whole.has(field) || references[kind] === field;
  const fields = fieldsOfKinds[kind] ?? ["id"];
  return Object.fromEntries(fields.map((field) => [shownNames[field] ?? field, valueOf(item[field], field, isWhole(field))]));
}

const shownNames: Readonly<Record<string, string>> = {
  name_slug: "name",
  emitter_id: "emitter",
  listener_id: "listener",
  event_name: "channel",
  last_run_at: "last_run",
};

function valueOf(value: unknown, field: string, isWhole: boolean): Row[string] {
  if (field.endsWith("_at")) return secondOf(value);
  if (field === "needs_reconnect" || field === "secret") return value === true ? true : undefined;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "string") return isWhole ? value : cuttable(value);
  if (Array.isArray(value)) return value.join(",");
  return cuttable(textIn(value));
}

/** The message of a problem, the slug of an app. */
function textIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("message" in value && typeof value.message === "string") return value.message;
  return "name_slug" in value && typeof value.name_slug === "string" ? value.name_slug : undefined;
}

const orNothing = (text: string | null): string | undefined => (text === null || text === "" ? undefined : text);

export const runRow = ({ id, status, trigger, started_at_ms: at, duration_ms: ms, event_ids: events, error }: Run): Row => ({
  id,
  status,
  trigger,
  at: secondOf(at),
  ms,
  events: events.length === 0 ? undefined : events.length,
  error: cuttable(error?.message),
});

export const workflowRunRow = (run: WorkflowRun): Row => ({
  id: run.id,
  status: run.status,
  trigger: run.trigger,
  at: secondOf(run.started_at_ms),
  ms: run.duration_ms,
  steps: `${run.steps_done}/${run.step_count}`,
  error: cuttable(run.error?.message ?? run.reason),
});

export const eventRow = ({ id, event, metadata }: Event): Row => ({
  id,
  at: secondOf(metadata.ts),
  channel: orNothing(metadata.name),
  summary: cuttable(metadata.summary),
  event: cuttableJson(event),
});

export const logRow = ({ k: kind, ts, msg, h: hook, err, run_id: run }: LogLine): Row => ({
  at: secondOf(ts),
  level: kind.replace(/^console\./, ""),
  run,
  text: cuttable(err === undefined ? (msg ?? hook) : `${err.name}: ${err.message}`),
});

/** The id of a delivery to a webhook begins with that of its event. */
export const attemptRow = (attempt: Attempt | ListedSendAttempt): Row => ({
  delivery: attempt.delivery_id,
  ...("run_id" in attempt ? { run: attempt.run_id, send: attempt.send } : {}),
  outcome: attempt.outcome,
  attempt: attempt.attempt === 1 ? undefined : attempt.attempt,
  status: attempt.response_status,
  at: secondOf(attempt.at_ms),
  cause: cuttable(attempt.cause),
});

export const deadLetterRow = (letter: DeadLetter | FailedSend): Row => ({
  delivery: letter.delivery_id,
  ...("run_id" in letter ? { run: letter.run_id, send: letter.send, event: letter.event?.event_id } : {}),
  attempts: letter.attempts,
  at: secondOf(letter.died_at_ms),
  cause: cuttable(letter.cause),
});

export const foundRow = (item: SearchItem): Row => ({
  kind: item.kind,
  at: secondOf(item.at_ms),
  source: cuttable(item.source_name),
  trace: item.trace_id,
  level: item.kind === "error" ? undefined : item.level,
  status: item.kind === "error" ? undefined : item.status,
  channel: orNothing(item.channel),
  text: cuttable(item.excerpt),
});
