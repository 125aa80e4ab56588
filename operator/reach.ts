import { kindOfId } from "../domain/ids.ts";
import type { Memberships } from "./ports.ts";

/** The owners whose emitters and listeners an owner may connect. */
export interface Reach {
  readonly owner: string;
  /** The checked organizations of which it is a member. Organizations are never members. */
  readonly organizations: ReadonlySet<string>;
}

/** Owners reach their own resources, and users also those of their organizations, as in the REST API. */
export function reaches({ owner, organizations }: Reach, other: string | undefined): boolean {
  return other !== undefined && (other === owner || organizations.has(other));
}

/** Checks memberships only where needed: most subscriptions connect resources of one owner. @throws Unavailable */
export async function reachOf(owner: string, others: readonly (string | undefined)[], memberships: Memberships): Promise<Reach> {
  const asked = kindOfId(owner) === "user" ? others.filter((other) => other !== undefined && isForeign(owner, other)) : [];
  const organizations = new Set<string>();
  for (const organization of new Set(asked)) {
    if (organization !== undefined && (await memberships.isMember(owner, organization))) organizations.add(organization);
  }
  return { owner, organizations };
}

/** Does access of `owner` to resources of `other` depend on a membership? */
export function isForeign(owner: string, other: string): boolean {
  return other !== owner && kindOfId(other) === "organization";
}
