import type { Generated } from "kysely";

export interface UserTable {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  /** Null: mails other than the confirmation do not go there. */
  readonly email_confirmed_at: Date | null;
  readonly created_at: Generated<Date>;
  /** False: no mails about errors. */
  readonly error_mails: Generated<boolean>;
}

export interface OrganizationTable {
  readonly id: string;
  readonly name: string;
  readonly orgname: string;
  readonly email: string;
  /** Null: mails other than the confirmation do not go there. */
  readonly email_confirmed_at: Date | null;
  readonly created_at: Generated<Date>;
  /** False: no mails about errors. */
  readonly error_mails: Generated<boolean>;
  /** The user who created it; null if the admin API did, or if the user was deleted. */
  readonly created_by: string | null;
}
