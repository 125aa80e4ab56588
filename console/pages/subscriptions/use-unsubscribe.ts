import type { Subscription } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";

/** Removes a subscription; undoing it creates an equal one. */
export function useUnsubscribe(): (subscription: Subscription) => void {
  const query = useOwnerQuery();
  const remove = useChange("deleteSubscription", { invalidates: ["listMySubscriptions"] });
  const add = useChange("subscribe", { invalidates: ["listMySubscriptions"] });
  return ({ id, emitter_id: emitter, listener_id: listener, event_name: channel }) => {
    const undo = (): void =>
      add.mutate(
        { query, body: { emitter_id: emitter ?? "", listener_id: listener ?? "", event_name: channel } },
        { onError: (error) => showFailure(text.subscribeFailed, error) },
      );
    remove.mutate(
      { path: { id } },
      {
        onSuccess: () => showToast(text.removed, emitter === null || listener === null ? undefined : undo),
        onError: (error) => showFailure(text.removeFailed, error),
      },
    );
  };
}
