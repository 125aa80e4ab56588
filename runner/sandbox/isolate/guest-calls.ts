import type { Activity } from "./activity.ts";
import { toGuestError } from "./isolate-errors.ts";
import { asyncOperations, postOperations, syncOperations } from "../operations/index.ts";
import { charge, outOfDebt } from "../operations/sync-meter.ts";

/** Time of the host's thread that answering a failed call takes. */
const failureMs = 0.2;

/** Performs a synchronous operation. Throws what the guest is to catch. */
export function performSync(activity: Activity | undefined, operation: string, args: readonly unknown[]): unknown {
  const perform = syncOperations[operation];
  if (perform === undefined) throw new Error(`the sandbox has no operation '${operation}'`);
  const isOver = activity === undefined || activity.ending?.outcome === "limited";
  if (isOver || !activity.admitSyncCall() || !activity.admit(args)) throw new Error("the run has ended");
  return perform(activity, withoutNegativeZero(args));
}

/** Performs an operation without an answer; a refusal becomes a notice in the log. */
export function performPost(activity: Activity, kind: string, args: readonly unknown[]): void {
  const perform = postOperations[kind];
  if (perform === undefined) return;
  activity.noteConnection();
  try {
    perform(activity, withoutNegativeZero(args));
  } catch (error) {
    activity.products.addNotice(`the sandbox refused a message '${kind}': ${toGuestError(error).message}`);
  }
}

/** Performs an asynchronous operation; the answer travels by an entry of its own. Never rejects. */
export async function answerCall(activity: Activity, [id, operation, args]: readonly unknown[]): Promise<void> {
  const perform = asyncOperations[String(operation)];
  if (!activity.beginCall()) return;
  try {
    if (perform === undefined) throw new Error(`the sandbox has no operation '${String(operation)}'`);
    const value = await perform(activity, Array.isArray(args) ? withoutNegativeZero(args) : []);
    await activity.deliverAndWait("answer", id, true, value);
  } catch (error) {
    if (activity.ending !== undefined) return;
    // A failure costs the host as much as an answer, and the guest nothing: an owner in debt waits for it.
    charge(activity, failureMs);
    await outOfDebt(activity).catch(() => {}); // the run has ended
    activity.deliver("answer", id, false, toGuestError(error));
  } finally {
    // Only now: until the answer is in, the run is waiting for something.
    activity.endCall();
  }
}

/**
 * Replaces -0 by 0 in the arguments of a guest. V8 does not count -0 as an integer of 32 bits, although native code of Node expects that of
 * everything for which `Number.isInteger` holds: an assertion ends the process. The arguments are our own copy, so they are changed in
 * place; the bridge has bounded their depth.
 */
function withoutNegativeZero(args: readonly unknown[]): readonly unknown[] {
  replace(args);
  return args;
}

function replace(container: object): void {
  if (ArrayBuffer.isView(container)) return;
  for (const [name, value] of Object.entries(container)) {
    if (Object.is(value, -0)) Reflect.set(container, name, 0);
    else if (typeof value === "object" && value !== null) replace(value);
  }
}
