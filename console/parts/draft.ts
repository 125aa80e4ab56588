import { useState } from "react";
import { useSession } from "./session-context.tsx";

/** By user and name, since another user may sign in in the same tab. */
const drafts = new Map<string, unknown>();

// Reloading or closing the tab loses the drafts: the browser asks first.
addEventListener("beforeunload", (event) => {
  if (drafts.size > 0) event.preventDefault();
});

export interface Draft<Value> {
  readonly value: Value;
  readonly change: (next: Value) => void;
  /** The value was changed on an earlier visit of the page and not saved. */
  readonly isRestored: boolean;
  /** Call it when the value was saved. */
  readonly forget: () => void;
  /** Returns to what was saved. */
  readonly discard: () => void;
}

/** A state that survives leaving the page, also to sign in again, until it is saved or discarded. */
export function useDraft<Value>(
  name: string,
  saved: Value,
  isSame: (one: Value, other: Value) => boolean = (one, other) => Object.is(one, other),
): Draft<Value> {
  const { user } = useSession();
  const key = `${user.id} ${name}`;
  const [value, setValue] = useState(() => (drafts.has(key) ? (drafts.get(key) as Value) : saved)); // A name has values of one type.
  const [isRestored, setIsRestored] = useState(() => drafts.has(key));
  const forget = (): void => {
    drafts.delete(key);
    setIsRestored(false);
  };
  return {
    value,
    isRestored,
    forget,
    change: (next) => {
      setValue(() => next);
      if (isSame(next, saved)) drafts.delete(key);
      else drafts.set(key, next);
    },
    discard: () => {
      forget();
      setValue(() => saved);
    },
  };
}
