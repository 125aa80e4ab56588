import { createHash } from "node:crypto";
import { entriesOf, isAuthProp, isFields, isFunction, own, textOf, type Fields, type Self } from "./contract.ts";
import { authFrom } from "./auth.ts";
import { baseContext, databaseStore, ownPrefix } from "./context.ts";
import { ownNames, type Described } from "./props.ts";
import { isDue, scheduleOf } from "./schedule.ts";
import { valuesOf } from "./values.ts";

/** A trigger, its piece, and `this` of the source, in one call. */
export interface TriggerCall extends Described {
  readonly self: Self;
}

interface Database {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** The field with which a trigger says what makes an event the same as an earlier one. */
const dedupeField = "_dedupe_key";
const maxSummary = 200;

export const databaseOf = ({ self, ...described }: TriggerCall): Database => self[ownNames(described).db] as Database; // A prop of that type.

/** Events that the piece's server keeps for an app: which ones, and whose. */
const listenersKey = `${ownPrefix}listeners`;
/** The times that the trigger has set, and until when they have been seen to. */
const scheduleKey = `${ownPrefix}schedule`;
/** What the trigger was enabled with. */
const enabledKey = `${ownPrefix}enabled`;

/** The context of a function of a trigger. */
export async function contextOf(call: TriggerCall, more: Fields = {}): Promise<Fields> {
  const { self, piece } = call;
  const db = databaseOf(call);
  const names = ownNames(call);
  return {
    ...baseContext({
      auth: authFrom(piece, self[names.app]),
      propsValue: await valuesOf(self, call),
      store: databaseStore(db),
    }),
    webhookUrl: own(self[names.http], "endpoint") ?? "",
    payload: {},
    setSchedule: (schedule: unknown) => db.set(scheduleKey, { ...scheduleOf(schedule), seen: Date.now() }),
    app: { createListeners: (listeners: unknown) => db.set(listenersKey, listeners) },
    ...more,
  };
}

/**
 * Whether a trigger runs at a tick of its timer. One that has set its times runs at the first tick after each; the timer's are those of all
 * others.
 *
 * @returns `repeats`: it does, and equal events are different ones
 */
export function tickOf(call: TriggerCall, event: unknown): "runs" | "repeats" | "waits" {
  const schedule = databaseOf(call).get(scheduleKey);
  if (!isFields(schedule)) return "runs";
  const { seen } = schedule;
  const now = Date.now();
  // Without a timer's event, its owner runs it.
  if (event !== undefined && event !== null && typeof seen === "number" && !isDue(scheduleOf(schedule), seen, now)) return "waits";
  return "repeats";
}

/** The trigger has run at a time that it has set. One that fails runs again at the next tick. */
export function tickDone(call: TriggerCall): void {
  const db = databaseOf(call);
  const schedule = db.get(scheduleKey);
  if (isFields(schedule)) db.set(scheduleKey, { ...schedule, seen: Date.now() });
}

export const listenersOf = (call: TriggerCall): unknown => databaseOf(call).get(listenersKey);

/** Calls a function of a trigger, if it has it. */
export async function callMember(call: TriggerCall, name: string, more: Fields = {}): Promise<unknown> {
  const { member } = call;
  const found = member[name];
  return isFunction(found) ? Reflect.apply(found, member, [await contextOf(call, more)]) : undefined;
}

/**
 * Enables a trigger for its values. A polling trigger that was enabled with the same values continues from where it stopped, so that a change
 * of code or a pause loses nothing.
 */
export async function enable(call: TriggerCall, continues: boolean): Promise<void> {
  const db = databaseOf(call);
  const values = digest(entriesOf(call.member["props"]).map(([name, prop]) => [name, isAuthProp(prop) ? null : call.self[name]]));
  if (continues && db.get(enabledKey) === values) return;
  await callMember(call, "onEnable");
  db.set(enabledKey, values);
}

/** A test of a source that is not deployed asks for samples, since nothing is new for it yet. */
export const isTest = (event: unknown): boolean => own(event, "test") === true;

/** Emits what `run` of a trigger returned, the oldest first. @param isRepeatable whether equal events are different ones */
export function emitAll(self: Self, found: unknown, isRepeatable: boolean): void {
  const items = Array.isArray(found) ? found : found === undefined || found === null ? [] : [found];
  for (const item of items.toReversed()) {
    const key = own(item, dedupeField);
    const { [dedupeField]: _, ...event } = isFields(item) ? item : { [dedupeField]: undefined };
    const id =
      typeof key === "string" || typeof key === "number" ? String(key) : isRepeatable ? globalThis.crypto.randomUUID() : digest(item);
    self.$emit?.(isFields(item) ? event : item, { id, summary: summaryOf(item) });
  }
}

function summaryOf(item: unknown): string {
  const named = ["summary", "title", "name", "subject", "text", "id"].map((field) => own(item, field)).find((value) => textOf(value));
  return (textOf(named) ?? jsonOf(item)).slice(0, maxSummary);
}

const digest = (value: unknown): string => createHash("sha256").update(jsonOf(value)).digest("hex").slice(0, 32);

/** Empty for what JSON cannot hold. */
const jsonOf = (value: unknown): string => (JSON.stringify(value) as string | undefined) ?? "";
