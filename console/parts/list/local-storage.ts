import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("storage", listener); // Changes of other tabs.
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}

/** "" also if the browser stores nothing for this page. */
export function readStored(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** @returns false if the browser does not store it, such as when its storage is full or switched off */
export function writeStored(key: string, value: string): boolean {
  try {
    localStorage.setItem(key, value);
  } catch {
    return false;
  }
  for (const each of listeners) each();
  return true;
}

/** A text in the storage of this origin, as it is now. */
export function useStored(key: string): string {
  return useSyncExternalStore(
    subscribe,
    useCallback(() => readStored(key), [key]),
  );
}
