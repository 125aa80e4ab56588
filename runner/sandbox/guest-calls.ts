import type { Activity } from "./activity.ts";
import { withoutNegativeZero } from "./guest-values.ts";
import { toGuestError } from "./isolate-errors.ts";
import { asyncOperations, postOperations, syncOperations } from "./operations/index.ts";
import { charge, outOfDebt } from "./operations/sync-meter.ts";

/** What the host's thread needs to answer a call that fails. */
const failureMs = 0.2;

/** What the guest asks for at once. Throws what it is told. */
export function performSync(activity: Activity | undefined, operation: string, args: readonly unknown[]): unknown {
  const perform = syncOperations[operation];
  if (perform === undefined) throw new Error(`the sandbox has no operation '${operation}'`);
  const isOver = activity === undefined || activity.ending?.outcome === "limited";
  if (isOver || !activity.admitSyncCall() || !activity.admit(args)) throw new Error("the run has ended");
  return perform(activity, withoutNegativeZero(args));
}

/** What the guest asks for without an answer; a refusal becomes a notice in its log. */
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

/** What the guest asks for and waits for; the answer travels by an entry of its own. Never rejects. */
export async function answerCall(activity: Activity, [id, operation, args]: readonly unknown[]): Promise<void> {
  const perform = asyncOperations[String(operation)];
  if (!activity.beginCall()) return;
  try {
    if (perform === undefined) throw new Error(`the sandbox has no operation '${String(operation)}'`);
    const value = await perform(activity, Array.isArray(args) ? withoutNegativeZero(args) : []);
    await activity.deliverAndWait("answer", id, true, value);
  } catch (error) {
    if (activity.ending !== undefined) return;
    // A failure costs the host as much as an answer, and the guest nothing: one who has used up its share of the host's thread waits for it.
    charge(activity, failureMs);
    await outOfDebt(activity).catch(() => {}); // the run has ended
    activity.deliver("answer", id, false, toGuestError(error));
  } finally {
    // Only now: until the answer is in, the run is waiting for something.
    activity.endCall();
  }
}
