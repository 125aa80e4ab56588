import type { Session } from "./session.ts";

/** One sentence of the specification, and what shows whether a server keeps it. Rules run in order: later ones use what earlier ones made. */
export interface Rule {
  /** Heading of the specification. */
  readonly about: string;
  readonly name: string;
  /** @throws an Error that says what is wrong */
  readonly check: (session: Session) => Promise<void>;
}
