import { join } from "node:path";
import { PermissionViolationError, credsAuthenticator, connect as dial, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildSubject, partitionCount } from "../../../domain/subjects.ts";
import { backupRights } from "../../../platform/jetstream/connection/backup-rights.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { openLink } from "../../../platform/jetstream/connection/link.ts";
import { builderServices, runnerNews, runnerServices } from "../../../platform/jetstream/connection/account-imports.ts";
import { importedName, inboxPrefix, rightsOf, trustedRoles, type Rights } from "../../../platform/jetstream/connection/permissions.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { backupCredentials, builderCredentials, roleCredentials, systemCredentials } from "../../../platform/process/nats/nats-accounts.ts";
import { credentialsForPool } from "../../../platform/process/nats/nats-claims.ts";
import { natsKeysOf, storedNatsRoot, type NatsKeys } from "../../../platform/process/nats/nats-keys.ts";
import { startNats, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { natsRoles, published, subscribed, type NatsRight, type NatsRole } from "../../support/rights/nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { contentOf, streamOptions } from "./support.ts";

/** The table of rights on a real server: each role tries each subject of the table with its own credentials. */
const pool = { pool: "own", owner: "u_one" };
const isOutside = (role: NatsRole): boolean => role === "runner" || role === "builder";
let directory: TemporaryDirectory;
let keys: NatsKeys;
let server: NatsServer;
let admin: Connection;
const clients = new Map<NatsRole, NatsConnection>();
/** What the server has refused since this was last emptied. */
const refused = new Map<NatsRole, Set<string>>();

async function credentialsOf(role: NatsRole): Promise<string> {
  if (role === "builder") return builderCredentials(keys);
  if (role === "backup") return backupCredentials(keys);
  if (role !== "runner") return roleCredentials(keys, role);
  const system = await openLink({ server: { servers: server.url, credentials: await systemCredentials(keys) }, name: "system" });
  const credentials = await credentialsForPool(system, keys, pool);
  await system.close();
  return credentials;
}

/** Collects the refusals that the server reports to a client. */
async function collectRefusals(role: NatsRole, client: NatsConnection): Promise<void> {
  for await (const status of client.status())
    if (status.type === "error" && status.error instanceof PermissionViolationError) refused.get(role)?.add(status.error.subject);
}

beforeAll(async () => {
  directory = await temporaryDirectory("rights");
  keys = natsKeysOf(await storedNatsRoot(join(directory.path, "nats.root")));
  server = await startNats({ dataDirectory: join(directory.path, "nats"), keys, binary: await natsBinary() });
  admin = await connect({ server: server.connection, name: "admin", requestTimeoutMs: 60_000 });
  await setUpStreams(admin, { ...streamOptions, partitions: partitionCount });
  for (const role of natsRoles) {
    const authenticator = credsAuthenticator(new TextEncoder().encode(await credentialsOf(role)));
    const client = await dial({ servers: server.url, authenticator, inboxPrefix: inboxPrefix(role) });
    clients.set(role, client);
    void collectRefusals(role, client); // Ends with the connection.
  }
});
afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await admin.close();
  await server.stop();
  await directory.remove();
});

/** Whether a pattern contains a subject, or all subjects of another pattern. */
function contains(pattern: string, subject: string): boolean {
  const [wanted, given] = [pattern.split("."), subject.split(".")];
  for (const [index, token] of wanted.entries()) {
    if (token === ">") return given.length > index;
    if (given[index] === undefined || (given[index] !== token && (token !== "*" || given[index] === ">"))) return false;
  }
  return wanted.length === given.length;
}

const isGranted = (rows: readonly NatsRight[], role: NatsRole, subject: string): boolean =>
  rows.some(({ subjects, roles }) => roles.includes(role) && subjects.some((pattern) => contains(pattern, subject)));

const allOf = (rows: readonly NatsRight[]): readonly string[] => [...new Set(rows.flatMap(({ subjects }) => subjects))];
/** A subject of each pattern. */
const samples = [...new Set(allOf(published).map((pattern) => pattern.replaceAll(/[*>]/g, "0")))];

/** @returns what the server refused to the role in the meantime */
async function refusedTo(role: NatsRole, action: (client: NatsConnection) => void): Promise<readonly string[]> {
  const client = clients.get(role);
  if (client === undefined) throw new Error(`${role} is not connected`);
  refused.set(role, new Set());
  action(client);
  await client.flush();
  // The client reports the refusals that came before the response to the flush in a later turn of the event loop.
  await new Promise(setImmediate);
  return [...(refused.get(role) ?? [])].toSorted();
}

const publishTo = (role: NatsRole, subjects: readonly string[]): Promise<readonly string[]> =>
  refusedTo(role, (client) => {
    for (const subject of subjects) client.publish(subject, "x");
  });

/** Roles of other accounts know JetStream by another name. */
const namesOf = (role: NatsRole, subject: string): readonly string[] => {
  if (!isOutside(role)) return [subject];
  return isGranted(published, role, subject) ? [importedName(subject)] : [...new Set([subject, importedName(subject)])];
};

const declaredRights = (role: NatsRole): Rights => {
  if (role === "backup") return backupRights;
  if (role === "builder") return { publish: builderServices.map(({ subject }) => subject), subscribe: [buildSubject] };
  if (role === "runner")
    return { publish: runnerServices(pool.pool, pool.owner).map(({ subject }) => subject), subscribe: runnerNews(pool.pool) };
  return rightsOf[role];
};

it.each(natsRoles)("has a row for each right of %s", (role) => {
  const { publish, subscribe } = declaredRights(role);
  expect(publish.filter((subject) => !isGranted(published, role, subject))).toEqual([]);
  expect(subscribe.filter((subject) => !isGranted(subscribed, role, subject))).toEqual([]);
  expect([...trustedRoles, "builder", "runner", "backup"].toSorted()).toEqual([...natsRoles].toSorted());
});

it("refuses to publish what no row grants, and changes nothing", async () => {
  const before = await contentOf(admin);
  for (const role of natsRoles) {
    const subjects = samples.filter((subject) => !isGranted(published, role, subject)).flatMap((subject) => namesOf(role, subject));
    expect([role, await publishTo(role, subjects)]).toEqual([role, subjects.toSorted()]);
  }
  expect(await contentOf(admin)).toBe(before);
});

it.each(natsRoles)("lets %s subscribe to what its rows grant, and to nothing else", async (role) => {
  const subjects = allOf(subscribed);
  const refusals = await refusedTo(role, (client) => {
    for (const subject of subjects) client.subscribe(subject, { queue: "q", callback: () => undefined });
  });
  expect(refusals).toEqual(subjects.filter((subject) => !isGranted(subscribed, role, subject)).toSorted());
});

it.each(natsRoles)("lets %s publish what its rows grant", async (role) => {
  const subjects = samples.filter((subject) => isGranted(published, role, subject)).flatMap((subject) => namesOf(role, subject));
  expect(subjects.length).toBeGreaterThan(5);
  expect(await publishTo(role, subjects)).toEqual([]);
});
