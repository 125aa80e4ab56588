import {
  Algorithms,
  encodeAccount,
  encodeGeneric,
  encodeOperator,
  encodeUser,
  fmtCreds,
  newScopedSigner,
  type Account,
  type Export,
  type Import,
  type UserPermissionsLimits,
} from "@nats-io/jwt";
import type { KeyPair } from "@nats-io/nkeys";
import { buildSubject } from "../../../domain/subjects.ts";
import { backupRights } from "../../jetstream/connection/backup-rights.ts";
import { builderServices, offered, runnerNews, runnerServices, type Service } from "../../jetstream/connection/account-imports.ts";
import { importedName, inboxPrefix, rightsOf, type Rights, type TrustedRole } from "../../jetstream/connection/permissions.ts";
import { ownTag } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";

/**
 * Accounts and users of NATS as signed tokens ("operator mode"): the server knows the operator's public key, and accepts every account that
 * the operator signed and every user that its account signed. They do not expire. To revoke one user or all, add a revocation to the
 * account and issue new credentials to the others.
 */
const names = { streams: "HEADWATER", system: "SYS", builder: "BUILDER" } as const;
const poolAccount = (pool: string): string => `POOL-${pool}`;
const algorithm = { algorithm: Algorithms.v2 };

/** Without an owner all owners' sources may run there. */
export interface Pool {
  readonly pool: string;
  readonly owner?: string;
}

/** An account's public key, and its token for the server. */
export interface AccountToken {
  readonly id: string;
  readonly token: string;
}

export const operatorToken = (keys: NatsKeys): Promise<string> =>
  encodeOperator("headwater", keys.operator, { system_account: idOf(keys, names.system) }, algorithm);

export const systemAccountId = (keys: NatsKeys): string => idOf(keys, names.system);
/** Id of the account that contains the streams. */
export const streamsAccountId = (keys: NatsKeys): string => idOf(keys, names.streams);

/** The permanent accounts, and those of the given pools. */
export async function permanentAccounts(keys: NatsKeys, pools: readonly Pool[]): Promise<readonly AccountToken[]> {
  return Promise.all([
    accountToken(keys, names.system, {}, { system: allSubjects }),
    accountToken(
      keys,
      names.streams,
      {
        exports: [
          ...offered.services.map(serviceExport),
          ...offered.news.map((subject): Export => ({ name: subject, subject, type: "stream" })),
        ],
        imports: [importOf(keys, names.builder, buildSubject, "service")],
        limits: { ...unlimited, ...storage },
      },
      { ...rightsOf, backup: backupRights, admin: allSubjects },
    ),
    accountToken(
      keys,
      names.builder,
      {
        exports: [serviceExport({ subject: buildSubject, answers: "one" })],
        imports: builderServices.map(({ subject }) => importOf(keys, names.streams, subject, "service")),
      },
      { builder: { publish: builderServices.map(({ subject }) => importedName(subject)), subscribe: [`${buildSubject} *`] } },
    ),
    ...pools.map((pool) => poolToken(keys, pool)),
  ]);
}

/** A pool's account, which consists of imports only. */
export function poolToken(keys: NatsKeys, { pool, owner }: Pool): Promise<AccountToken> {
  return accountToken(
    keys,
    poolAccount(pool),
    {
      imports: [
        ...runnerServices(pool, owner).map(({ subject }) => importOf(keys, names.streams, subject, "service")),
        ...runnerNews(pool, owner).map((subject) => importOf(keys, names.streams, subject, "stream")),
      ],
    },
    { runner: { publish: runnerServices(pool, owner).map(({ subject }) => importedName(subject)), subscribe: runnerNews(pool) } },
  );
}

/** Request to remove a pool's account; must be signed by the operator. */
export const poolRemovalToken = (keys: NatsKeys, pool: string): Promise<string> =>
  encodeGeneric("headwater", keys.operator, "generic", { accounts: [idOf(keys, poolAccount(pool))] }, algorithm);

export const roleCredentials = (keys: NatsKeys, role: TrustedRole): Promise<string> => credentials(keys, names.streams, role);
export const builderCredentials = (keys: NatsKeys): Promise<string> => credentials(keys, names.builder, "builder");
/** For the runners of a pool, whose account the server must know: see `poolToken`. */
export const poolCredentials = (keys: NatsKeys, { pool }: Pick<Pool, "pool">): Promise<string> =>
  credentials(keys, poolAccount(pool), "runner");
export const backupCredentials = (keys: NatsKeys): Promise<string> => credentials(keys, names.streams, "backup");
/** All rights on streams: for administrators, setup, restores and benchmarks. */
export const adminCredentials = (keys: NatsKeys): Promise<string> => credentials(keys, names.streams, "admin");
/** For updating accounts, see nats-claims.ts. */
export const systemCredentials = (keys: NatsKeys): Promise<string> => credentials(keys, names.system, "system");

/** Users' permissions are in the account, by role: so credentials stay short, and valid when permissions change. */
async function accountToken(
  keys: NatsKeys,
  name: string,
  account: Partial<Account>,
  roles: Readonly<Record<string, Rights>> = {},
): Promise<AccountToken> {
  const pair = keys.account(name);
  const signing_keys = Object.entries(roles).map(([role, rights]) =>
    newScopedSigner(roleKey(keys, name, role), role, templateOf(role, rights)),
  );
  const token = await encodeAccount(name, pair, { limits: unlimited, ...account, signing_keys }, { ...algorithm, signer: keys.operator });
  return { id: pair.getPublicKey(), token };
}

const roleKey = (keys: NatsKeys, account: string, role: string): KeyPair => keys.account(`${account} ${role}`);

const allSubjects: Rights = { publish: [">"], subscribe: [">"] };

function templateOf(role: string, { publish, subscribe }: Rights): Partial<UserPermissionsLimits> {
  return {
    subs: -1,
    data: -1,
    payload: -1,
    pub: { allow: [...publish] },
    sub: { allow: [...subscribe, `${inboxPrefix(role)}.>`] },
    // Allows replies to requests.
    resp: { max: 1, ttl: 120e9 },
  };
}

async function credentials(keys: NatsKeys, account: string, role: string): Promise<string> {
  const pair = keys.user(account, role);
  const user = { issuer_account: idOf(keys, account), tags: [ownTag] };
  const token = await encodeUser(role, pair, roleKey(keys, account, role), user, { ...algorithm, scopedUser: true });
  return new TextDecoder().decode(fmtCreds(token, pair));
}

const idOf = (keys: NatsKeys, name: string): string => keys.account(name).getPublicKey();

const serviceExport = ({ subject, answers }: Service): Export => ({
  name: subject,
  subject,
  type: "service",
  response_type: answers === "many" ? "Stream" : "Singleton",
});

const importOf = (keys: NatsKeys, account: string, subject: string, type: "service" | "stream"): Import => ({
  name: subject,
  subject,
  account: idOf(keys, account),
  local_subject: importedName(subject),
  type,
});

const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1, max_ack_pending: -1 };
