import { buildSubject, streamNames } from "../../../domain/subjects.ts";
import { backupRights } from "./backup-rights.ts";
import { builderServices, inboxPrefix, rightsOf, runnerNews, runnerServices, type Rights } from "./permissions.ts";
import { wireNames, type WireNames } from "./wire-names.ts";

/**
 * Rights of the roles in an account that is not ours, where each role may have a user of its own (decision 0111). All of them are in the
 * account of the streams, so the rights of runners and of the builder are a list of subjects too, which decision 0050 shows to be weaker
 * than an account of their own.
 */
export const accountRoles = ["api", "ingress", "operator", "delivery", "builder", "runner", "backup"] as const;
export type AccountRole = (typeof accountRoles)[number];

export interface AccountRights extends Rights {
  /** The role answers requests, on subjects that the requesters choose. */
  readonly responds: boolean;
}

/** NATS answers here with the rights of the user that asks. */
export const userInfoSubject = "$SYS.REQ.USER.INFO";

/** A user of the operator also sets up the installation. One user for the runners of all pools. */
const rightsByRole: Readonly<Record<AccountRole, AccountRights>> = {
  api: { ...rightsOf.api, responds: false },
  ingress: { ...rightsOf.ingress, responds: false },
  operator: { ...rightsOf.operator, responds: true },
  delivery: { ...rightsOf.delivery, responds: true },
  builder: { publish: builderServices.map(({ subject }) => subject), subscribe: [buildSubject], responds: true },
  runner: { publish: runnerServices("*").map(({ subject }) => subject), subscribe: runnerNews("*"), responds: false },
  backup: { ...backupRights, responds: false },
};

/** Rights of a role with the names on the wire. @param prefix as in {@link accountInbox} */
export function accountRights(role: AccountRole, names: WireNames, prefix: string | undefined): AccountRights {
  const { publish, subscribe, responds } = rightsByRole[role];
  const wire = (subjects: readonly string[]): readonly string[] => [...new Set(subjects.flatMap((subject) => onTheWire(subject, names)))];
  return {
    publish: [userInfoSubject, ...wire(publish)].toSorted(),
    subscribe: [...wire(subscribe), `${accountInbox(role, prefix)}.>`].toSorted(),
    responds,
  };
}

/** Prefix of a role's inboxes in an account that others use too. */
export const accountInbox = (role: AccountRole, prefix: string | undefined): string =>
  inboxPrefix(prefix === undefined ? role : `${prefix}_${role}`);

interface NatsNames {
  readonly domain?: string | undefined;
  readonly prefix?: string | undefined;
}

/** The rights of all roles as `permissions` of users in the configuration of nats-server, in JSON. */
export function describeAccountRights({ domain, prefix }: NatsNames): string {
  const names = wireNames(domain === undefined ? "$JS.API" : `$JS.${domain}.API`, prefix);
  const permissions = accountRoles.map((role) => {
    const { publish, subscribe, responds } = accountRights(role, names, prefix);
    const allowed = { publish: { allow: publish }, subscribe: { allow: subscribe } };
    return [role, { ...allowed, ...(responds ? { allow_responses: { max: 1, expires: "2m" } } : {}) }];
  });
  return JSON.stringify(Object.fromEntries(permissions), undefined, 2);
}

function onTheWire(subject: string, names: WireNames): readonly string[] {
  if (subject.startsWith("$JS.ACK.")) {
    const ack = names.subject(subject);
    // A server with a domain may name the domain and the account in front of the stream.
    return [ack, ack.replace("$JS.ACK.", "$JS.ACK.*.*.")];
  }
  const chunks = /^\$JS\.SNAPSHOT\.\w+\./.exec(subject)?.[0];
  if (chunks !== undefined) return streamNames.map((stream) => `${chunks}${names.stream(stream)}.*`);
  if (!subject.startsWith(ownApi)) return [names.target(subject)];
  const request = subject.slice(ownApi.length);
  const requests = /^STREAM\.\w+\.\*$/.test(request) ? streamNames.map((stream) => request.replace("*", stream)) : [request];
  return requests.map((each) => names.subject(`${names.apiPrefix}.${each}`));
}
const ownApi = "$JS.API.";
