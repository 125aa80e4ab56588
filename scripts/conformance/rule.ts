import type { Session } from "./session.ts";

/** Origin of a rule: the specification, programs written for the known service, or additions of Headwater. */
export const groups = ["specification", "clients", "headwater"] as const;
export type Group = (typeof groups)[number];

/** A statement about a server, and its check. */
export interface Rule {
  /** Heading of the specification, or what it is about. */
  readonly about: string;
  readonly name: string;
  /** @throws an Error that says what is wrong; Unmet when an earlier rule did not make what it needs */
  readonly check: (session: Session) => Promise<void>;
}
