import { createContext, useContext } from "react";
import type { Session } from "../api/session.ts";
import { useSearchParams } from "./search.ts";

export const SessionContext = createContext<Session | undefined>(undefined);

/** The signed-in user. Only below the shell. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("this part of the console is shown without a session");
  return session;
}

/** Whether the key of the session may change anything. */
export const useCanWrite = (): boolean => useSession().scopes.includes("write");

/** The query of lists: the organization of the address, or nothing for the user's own resources. */
export function useOwnerQuery(): { readonly org_id?: string } {
  const [{ org }] = useSearchParams();
  return org === undefined || org === "" ? {} : { org_id: org };
}
