import type { Invitee, MemberRole } from "../../../api/owners/ports.ts";

export interface InvitationTable {
  readonly id: string;
  readonly organization_id: string;
  readonly named_by: Invitee["field"];
  /** An id, a username, or an email address in lower case. It may belong to no user. */
  readonly invitee: string;
  readonly role: MemberRole;
  readonly created_at: Date;
  readonly expires_at: Date;
}
