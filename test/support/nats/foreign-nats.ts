import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { Algorithms, encodeAccount, encodeOperator, encodeUser, fmtCreds, newScopedSigner, type Account } from "@nats-io/jwt";
import { createAccount, createOperator, createUser, type KeyPair } from "@nats-io/nkeys";
import { connect as connectNats, credsAuthenticator } from "@nats-io/transport-node";
import { steadyPort } from "../steady-port.ts";
import { natsBinary } from "./nats.ts";

/** A nats-server whose operator and accounts Headwater has not signed, as a platform team or a cloud runs it. */
export interface ForeignNats {
  readonly url: string;
  /** For leaf nodes. */
  readonly leafPort: number;
  /** A new user of the account, with all rights unless some are given. */
  user(name: string, rights?: NatsPermissions): Promise<ForeignUser>;
  /** Ends the connections of the user, and refuses new ones. */
  revoke(user: ForeignUser): Promise<void>;
  /** The log of the server, which names each request without a right. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

export interface ForeignUser {
  readonly id: string;
  /** The text of its `.creds` file. */
  readonly creds: string;
}

/** `permissions` of a user in the configuration of nats-server, as `--nats-rights` prints them. */
export interface NatsPermissions {
  readonly publish: { readonly allow: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
  readonly allow_responses?: { readonly max: number; readonly expires: string };
}

const algorithm = { algorithm: Algorithms.v2 };
const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const storage = { mem_storage: -1, disk_storage: 16 * 2 ** 30, streams: -1, consumer: -1 };

export interface ForeignNatsOptions {
  readonly directory: string;
  /** JetStream domain. */
  readonly domain?: string;
  /** Limits of JetStream in the account, which others use too. Default: 16 GiB. */
  readonly limits?: Readonly<Record<string, number | boolean>>;
}

export async function startForeignNats({ directory, domain, limits }: ForeignNatsOptions): Promise<ForeignNats> {
  const keys = { operator: createOperator(), system: createAccount(), account: createAccount() };
  const [port, leafPort] = [await steadyPort(), await steadyPort()];
  const accountToken = (changes: Partial<Account> = {}): Promise<string> =>
    encodeAccount(
      "TEAM",
      keys.account,
      { limits: { ...unlimited, ...storage, ...limits }, ...changes },
      { ...algorithm, signer: keys.operator },
    );
  const systemToken = await encodeAccount("SYS", keys.system, { limits: unlimited }, { ...algorithm, signer: keys.operator });
  const server = await startServer(
    directory,
    {
      listen: `127.0.0.1:${port}`,
      server_name: "hub",
      jetstream: { store_dir: join(directory, "store"), ...(domain === undefined ? {} : { domain }) },
      leafnodes: { listen: `127.0.0.1:${leafPort}` },
      operator: await encodeOperator("platform", keys.operator, { system_account: keys.system.getPublicKey() }, algorithm),
      system_account: keys.system.getPublicKey(),
      resolver: { type: "full", dir: join(directory, "accounts") },
      resolver_preload: { [keys.account.getPublicKey()]: await accountToken(), [keys.system.getPublicKey()]: systemToken },
    },
    port,
  );
  const url = `nats://127.0.0.1:${port}`;
  const revocations: Record<string, number> = {};
  const signing_keys: NonNullable<Account["signing_keys"]> = [];
  const updateAccount = async (): Promise<void> => {
    const admin = await newUser(keys.system, "admin");
    const nats = await connectNats({ servers: url, authenticator: credsAuthenticator(Buffer.from(admin.creds)) });
    await nats.request("$SYS.REQ.CLAIMS.UPDATE", await accountToken({ revocations, signing_keys }), { timeout: 10_000 });
    await nats.close();
  };
  return {
    url,
    leafPort,
    user: async (name, rights) => {
      if (rights === undefined) return newUser(keys.account, name);
      // A token with the rights in it would be longer than the 4,096 bytes that nats-server accepts of CONNECT.
      const signer = createAccount();
      signing_keys.push(newScopedSigner(signer, name, templateOf(rights)));
      await updateAccount();
      return newUser(keys.account, name, signer);
    },
    revoke: async (user) => {
      revocations[user.id] = Math.floor(Date.now() / 1000) + 60;
      await updateAccount();
    },
    log: () => server.log(),
    stop: () => server.stop(),
  };
}

function templateOf({ publish, subscribe, allow_responses }: NatsPermissions) {
  return {
    subs: -1,
    data: -1,
    payload: -1,
    pub: { allow: [...publish.allow] },
    sub: { allow: [...subscribe.allow] },
    ...(allow_responses === undefined ? {} : { resp: { max: allow_responses.max, ttl: 120e9 } }),
  };
}

/** @param signer a key whose users have the rights of its template; absent: all rights */
async function newUser(account: KeyPair, name: string, signer?: KeyPair): Promise<ForeignUser> {
  const pair = createUser();
  const token =
    signer === undefined
      ? await encodeUser(name, pair, account, { subs: -1, data: -1, payload: -1 }, algorithm)
      : await encodeUser(name, pair, signer, { issuer_account: account.getPublicKey() }, { ...algorithm, scopedUser: true });
  return { id: pair.getPublicKey(), creds: Buffer.from(fmtCreds(token, pair)).toString() };
}

export interface LeafOptions {
  readonly directory: string;
  readonly hub: ForeignNats;
  /** Users of the leaf node, by name: their password is the same. */
  readonly users: Readonly<Record<string, NatsPermissions>>;
}

export interface LeafNode extends Server {
  readonly url: string;
}

/** A leaf node without JetStream of its own, connected to the account of the hub. */
export async function startLeafNode({ directory, hub, users }: LeafOptions): Promise<LeafNode> {
  const port = await steadyPort();
  await mkdir(directory, { recursive: true });
  const credentials = join(directory, "leaf.creds");
  await writeFile(credentials, (await hub.user("leaf")).creds, { mode: 0o600 });
  const server = await startServer(
    directory,
    {
      listen: `127.0.0.1:${port}`,
      server_name: "leaf",
      leafnodes: { remotes: [{ url: `nats://127.0.0.1:${hub.leafPort}`, credentials }] },
      authorization: { users: Object.entries(users).map(([user, permissions]) => ({ user, password: user, permissions })) },
    },
    port,
  );
  return { url: `nats://127.0.0.1:${port}`, ...server };
}

interface Server {
  log(): Promise<string>;
  stop(): Promise<void>;
}

async function startServer(directory: string, configuration: object, port: number): Promise<Server> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, "nats-server.conf");
  const logFile = join(directory, "nats-server.log");
  await writeFile(file, JSON.stringify(configuration), { mode: 0o600 });
  const log = openSync(logFile, "a");
  const child = spawn(await natsBinary(), ["--config", file], { stdio: ["ignore", log, log] });
  closeSync(log);
  while (!(await accepts(port))) if (hasEnded(child)) throw new Error(`nats-server did not start:\n${await readFile(logFile, "utf8")}`);
  return {
    log: () => readFile(logFile, "utf8"),
    stop: async () => {
      if (hasEnded(child)) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Waits a moment before it answers that nothing listens. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => setTimeout(resolve, 50, false));
  });
}
