import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Invitation, Invitations, Invitee, MemberRole, NewInvitation } from "../../../api/owners/ports.ts";
import type { User } from "../../../api/http/ports.ts";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import { changeMembers } from "./change-members.ts";
import { inTransaction } from "../connection.ts";

interface Row {
  readonly id: string;
  readonly organization_id: string;
  readonly organization_name: string;
  readonly named_by: Invitee["field"];
  readonly invitee: string;
  readonly role: MemberRole;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const columns = sql`
  invitations.id, organization_id, organizations.name as organization_name, named_by, invitee, role, invitations.created_at, expires_at`;

export function createInvitations(db: Kysely<Tables>): Invitations {
  return {
    createInvitation: (invitation, maxOpen) => inTransaction(db, (transaction) => createInvitation(transaction, invitation, maxOpen)),
    async listInvitations(organization, now) {
      const { rows } = await sql<Row>`
        select ${columns} from invitations join organizations on organizations.id = organization_id
        where organization_id = ${organization} and expires_at > ${new Date(now)}
        order by invitations.created_at desc, invitations.id`.execute(db);
      return rows.map(invitationFrom);
    },
    async invitationsTo(user, now, limit) {
      const { rows } = await sql<Row>`
        select ${columns} from invitations join organizations on organizations.id = organization_id
        where ${isTo(user)} and expires_at > ${new Date(now)} and not exists (
          select from memberships where memberships.organization_id = invitations.organization_id and user_id = ${user.id}
        )
        order by invitations.created_at desc, invitations.id limit ${limit}`.execute(db);
      return rows.map(invitationFrom);
    },
    findInvitation: (user, id, now) => findInvitation(db, user, id, now),
    async withdrawInvitation(organization, id) {
      // The lock of `acceptInvitation`: after this, it is not accepted.
      await inTransaction(db, (transaction) =>
        changeMembers(transaction, organization, false, async () => {
          const deleted = sql`delete from invitations where id = ${id} and organization_id = ${organization}`;
          const { numAffectedRows } = await deleted.execute(transaction);
          if (numAffectedRows !== 1n) throw notFound(id);
        }),
      );
    },
    acceptInvitation: (user, id, now) =>
      inTransaction(db, async (transaction) => {
        const organization = (await findInvitation(transaction, user, id, now))?.organization.id;
        if (organization === undefined) throw notFound(id);
        await changeMembers(transaction, organization, false, async () => {
          // Read again under the lock: an admin may have withdrawn it, or changed its role.
          const offer = await findInvitation(transaction, user, id, now);
          if (offer === undefined) throw notFound(id);
          await sql`delete from invitations where organization_id = ${organization} and ${isTo(user)}`.execute(transaction);
          await sql`
            insert into memberships (organization_id, user_id, role) values (${organization}, ${user.id}, ${offer.role})
            on conflict do nothing`.execute(transaction);
        });
      }),
    async declineInvitation(user, id) {
      const { numAffectedRows } = await sql`delete from invitations where id = ${id} and ${isTo(user)}`.execute(db);
      if (numAffectedRows !== 1n) throw notFound(id);
    },
  };
}

/** Call it in a transaction: the lock serializes the count. */
async function createInvitation(
  transaction: Kysely<Tables>,
  { id, organization, invitee, role, createdAt, expiresAt }: NewInvitation,
  maxOpen: number,
): Promise<Invitation> {
  const { rows: locked } = await sql`select from organizations where id = ${organization} for no key update`.execute(transaction);
  if (locked.length === 0) throw new NotFound("the organization does not exist");
  await sql`delete from invitations where organization_id = ${organization} and expires_at <= ${new Date(createdAt)}`.execute(transaction);
  const name = invitee.field === "email" ? sql`lower(${invitee.name})` : sql`${invitee.name}`;
  const { rows } = await sql<Row>`
    with made as (
      insert into invitations (id, organization_id, named_by, invitee, role, created_at, expires_at)
      select ${id}, ${organization}, ${invitee.field}, ${name}, ${role}, ${new Date(createdAt)}::timestamptz, ${new Date(expiresAt)}::timestamptz
      where (
        select count(*) from invitations
        where organization_id = ${organization} and (named_by, invitee) <> (${invitee.field}, ${name})
      ) < ${maxOpen}
      on conflict (organization_id, named_by, invitee) do update
        set role = excluded.role, created_at = excluded.created_at, expires_at = excluded.expires_at
      returning *
    )
    select made.id, organization_id, organizations.name as organization_name, named_by, invitee, role, made.created_at, expires_at
    from made join organizations on organizations.id = organization_id`.execute(transaction);
  const [row] = rows;
  if (row !== undefined) return invitationFrom(row);
  throw new Conflict(`${organization} has ${maxOpen} open invitations: withdraw some, or wait until they are accepted or expire`, {
    code: "too_many_invitations",
  });
}

async function findInvitation(db: Kysely<Tables>, user: User, id: string, now: number): Promise<Invitation | undefined> {
  const { rows } = await sql<Row>`
    select ${columns} from invitations join organizations on organizations.id = organization_id
    where invitations.id = ${id} and ${isTo(user)} and expires_at > ${new Date(now)}`.execute(db);
  return rows[0] === undefined ? undefined : invitationFrom(rows[0]);
}

/** Whether an invitation names the user; by an address only if it is confirmed, because it may be that of another person. */
const isTo = ({ id, username }: User): RawBuilder<unknown> => sql`(
  (named_by, invitee) in (('user_id', ${id}), ('username', ${username}))
  or named_by = 'email' and invitee = (select lower(email) from users where id = ${id} and email_confirmed_at is not null)
)`;

const notFound = (id: string): NotFound => new NotFound(`there is no open invitation '${id.slice(0, 80)}'`);

function invitationFrom(row: Row): Invitation {
  return {
    id: row.id,
    organization: { id: row.organization_id, name: row.organization_name },
    invitee: { field: row.named_by, name: row.invitee },
    role: row.role,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
  };
}
