import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { Algorithms, encodeAccount, encodeOperator, encodeUser, fmtCreds, type Account } from "@nats-io/jwt";
import { createAccount, createOperator, createUser, type KeyPair } from "@nats-io/nkeys";
import { connect as connectNats, credsAuthenticator } from "@nats-io/transport-node";
import { endChild, hasEnded } from "../child.ts";
import { steadyPort } from "../steady-port.ts";
import { natsBinary } from "./nats.ts";

/** A nats-server whose operator and accounts Headwater has not signed, as a platform team or a cloud runs it. */
export interface ForeignNats {
  readonly url: string;
  /** For leaf nodes. */
  readonly leafPort: number;
  /** A new user of the account, with all rights. */
  user(name: string): Promise<ForeignUser>;
  /** Ends the connections of the user, and refuses new ones. */
  revoke(user: ForeignUser): Promise<void>;
  stop(): Promise<void>;
}

export interface ForeignUser {
  readonly id: string;
  /** The text of its `.creds` file. */
  readonly creds: string;
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
  const updateAccount = async (): Promise<void> => {
    const admin = await newUser(keys.system, "admin");
    const nats = await connectNats({ servers: url, authenticator: credsAuthenticator(Buffer.from(admin.creds)) });
    await nats.request("$SYS.REQ.CLAIMS.UPDATE", await accountToken({ revocations }), { timeout: 10_000 });
    await nats.close();
  };
  return {
    url,
    leafPort,
    user: (name) => newUser(keys.account, name),
    revoke: async (user) => {
      revocations[user.id] = Math.floor(Date.now() / 1000) + 60;
      await updateAccount();
    },
    stop: () => server.stop(),
  };
}

async function newUser(account: KeyPair, name: string): Promise<ForeignUser> {
  const pair = createUser();
  const token = await encodeUser(name, pair, account, { subs: -1, data: -1, payload: -1 }, algorithm);
  return { id: pair.getPublicKey(), creds: Buffer.from(fmtCreds(token, pair)).toString() };
}

export interface LeafOptions {
  readonly directory: string;
  readonly hub: ForeignNats;
  /** A user of the leaf node, whose password is the name. */
  readonly user: string;
}

export interface LeafNode extends Server {
  readonly url: string;
}

/** A leaf node without JetStream of its own, connected to the account of the hub. */
export async function startLeafNode({ directory, hub, user }: LeafOptions): Promise<LeafNode> {
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
      authorization: { users: [{ user, password: user }] },
    },
    port,
  );
  return { url: `nats://127.0.0.1:${port}`, ...server };
}

interface Server {
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
    stop: () => endChild(child, "SIGTERM"),
  };
}

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
