import { isId } from "../../domain/ids.ts";

/** `owner_id` of a resource that an organization owns. Resources of a user have none: only that user sees them. */
export function ownerField(owner: string | undefined): { readonly owner_id?: string } {
  return owner !== undefined && isId("organization", owner) ? { owner_id: owner } : {};
}
