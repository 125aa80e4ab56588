import { kindOfId } from "../../domain/ids.ts";
import type { Memberships } from "../ports.ts";

/** Whose emitters and listeners an owner may connect. */
export interface Reach {
  readonly owner: string;
  /** Of the organizations that were asked about, those it is a member of; an organization is none of another. */
  readonly organizations: ReadonlySet<string>;
}

/** An owner reaches what it owns, and a user also what belongs to an organization of theirs: the rule of the REST interface. */
export function reaches({ owner, organizations }: Reach, other: string | undefined): boolean {
  return other !== undefined && (other === owner || organizations.has(other));
}

/** Asks only where it matters: most subscriptions connect what is the owner's own. @throws Unavailable */
export async function reachOf(owner: string, others: readonly (string | undefined)[], memberships: Memberships): Promise<Reach> {
  const asked = kindOfId(owner) === "user" ? others.filter((other) => other !== undefined && isForeign(owner, other)) : [];
  const organizations = new Set<string>();
  for (const organization of new Set(asked)) {
    if (organization !== undefined && (await memberships.isMember(owner, organization))) organizations.add(organization);
  }
  return { owner, organizations };
}

/** Does what `owner` may do with what is `other`'s depend on a membership? */
export function isForeign(owner: string, other: string): boolean {
  return other !== owner && kindOfId(other) === "organization";
}
