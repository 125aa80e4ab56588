import { useMemo } from "react";
import { useSession } from "../session-context.tsx";
import { readStored, useStored, writeStored } from "./local-storage.ts";

/** A named state of a list: its search parameters, without the organization. */
export interface SavedView {
  readonly name: string;
  readonly search: string;
}

/** Of each list of a user. */
export const maxViews = 20;
export const maxNameLength = 60;
export const maxSearchLength = 1_000;
/** Characters; more than all views of a list can have. */
const maxStoredLength = 64 * 1_024;

export interface SavedViews {
  readonly views: readonly SavedView[];
  /** Changes what is stored, also if another tab has changed it in the meantime. @returns false if the browser does not store it */
  readonly change: (next: (views: readonly SavedView[]) => readonly SavedView[]) => boolean;
}

/** The views of a list. The storage is that of the origin, and ids of users differ between installations. */
export function useSavedViews(list: string): SavedViews {
  const { user } = useSession();
  const key = `headwater-views ${user.id} ${list}`;
  const stored = useStored(key);
  return {
    views: useMemo(() => parseViews(stored), [stored]),
    change: (next) => writeStored(key, JSON.stringify(next(parseViews(readStored(key))).slice(0, maxViews))),
  };
}

/** Leaves out what is no view: the storage may hold anything. */
function parseViews(stored: string): readonly SavedView[] {
  const views = parseArray(stored).flatMap((each): readonly SavedView[] => {
    const { name, search } = Object(each) as Record<string, unknown>; // Its fields are checked here.
    return isText(name, maxNameLength) && isText(search, maxSearchLength) ? [{ name, search }] : [];
  });
  return [...new Map(views.map((view) => [view.name, view])).values()].slice(0, maxViews);
}

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxLength;

function parseArray(stored: string): readonly unknown[] {
  if (stored.length > maxStoredLength) return [];
  try {
    const parsed: unknown = JSON.parse(stored);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
