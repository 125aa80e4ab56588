import type { Activity } from "./activity.ts";
import { toGuestError } from "./isolate-errors.ts";
import { limits } from "./limits.ts";
import { asyncOperations, postOperations, syncOperations } from "./operations/index.ts";

/** What the guest asks for at once. Throws what it is told. */
export function performSync(activity: Activity | undefined, operation: string, args: readonly unknown[]): unknown {
  const perform = syncOperations[operation];
  if (perform === undefined) throw new Error(`the sandbox has no operation '${operation}'`);
  const isOver = activity === undefined || activity.ending?.outcome === "limited";
  if (isOver || !activity.admitSyncCall() || !activity.admit(args)) throw new Error("the run has ended");
  return perform(activity, args);
}

/** What the guest asks for without an answer; a refusal becomes a notice in its log. */
export function performPost(activity: Activity, kind: string, args: readonly unknown[]): void {
  const perform = postOperations[kind];
  if (perform === undefined) return;
  activity.noteConnection();
  try {
    perform(activity, args);
  } catch (error) {
    activity.products.addNotice(`the sandbox refused a message '${kind}': ${toGuestError(error).message}`);
  }
}

/** What the guest asks for and waits for; the answer travels by an entry of its own. Never rejects. */
export async function answerCall(activity: Activity, [id, operation, args]: readonly unknown[]): Promise<void> {
  const perform = asyncOperations[String(operation)];
  const began = activity.beginCall();
  try {
    if (!began) throw tooManyCalls();
    if (perform === undefined) throw new Error(`the sandbox has no operation '${String(operation)}'`);
    const value = await perform(activity, Array.isArray(args) ? args : []);
    await activity.deliverAndWait("answer", id, true, value);
  } catch (error) {
    activity.deliver("answer", id, false, toGuestError(error));
  } finally {
    // Only now: until the answer is in, the run is waiting for something.
    if (began) activity.endCall();
  }
}

function tooManyCalls(): Error {
  const error = new Error(`more than ${limits.callsInFlight} requests are in flight, the limit of a run`);
  return Object.assign(error, { code: "bridge_limit" });
}
