import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tracked } from "../../../platform/process/own-children.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { endChild, hasExited } from "../../../platform/process/processes.ts";
import { KubeApiClient, type KubeAccess } from "./kube-api-client.ts";
import type { KubeAssets } from "./kube-assets.ts";
import { steadyPort } from "../steady-port.ts";
import { temporaryDirectory } from "../temporary-directory.ts";

/** A kube-apiserver with its own etcd, both on free ports of 127.0.0.1. */
export interface KubeApiServer {
  readonly access: KubeAccess;
  readonly pids: readonly number[];
  /** Ends the API server only, by SIGTERM or SIGKILL. Its port and all data stay. */
  stopServer(how?: "stop" | "kill"): Promise<void>;
  startServer(): Promise<void>;
  /** Ends both and removes their data. */
  stop(): Promise<void>;
}

/** Less than a hook may take. A busy machine starts an API server in more than a minute. */
const startTimeoutMs = 240_000;
const stopTimeoutMs = 5_000;

/**
 * Started like controller-runtime's envtest, except for the credentials: the API server creates its own certificate and accepts one token
 * of the group system:masters, so this module creates no certificates.
 */
export async function startKubeApiServer(assets: KubeAssets, flags: readonly string[] = []): Promise<KubeApiServer> {
  const directory = await temporaryDirectory("kube-api");
  const etcd = await startEtcd(assets.etcd, directory.path);
  const token = randomBytes(24).toString("hex");
  await writeCredentials(directory.path, token);
  const port = await steadyPort();
  let server: ChildProcess | undefined;
  let access: KubeAccess | undefined;
  const start = async (): Promise<void> => {
    server = launch(assets.kubeApiserver, serverFlags(directory.path, etcd.url, port, flags), join(directory.path, "kube-apiserver.log"));
    access = await whenReady(server, directory.path, { port, token, etcdUrl: etcd.url });
  };
  const end = async (how: "stop" | "kill"): Promise<void> => {
    if (server !== undefined) await endChild(server, how === "stop" ? "SIGTERM" : "SIGKILL", stopTimeoutMs);
  };
  const stop = async (): Promise<void> => {
    await end("kill");
    await endChild(etcd.child, "SIGKILL", stopTimeoutMs);
    await directory.remove();
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get access() {
      if (access === undefined) throw new Error("the API server has not started");
      return access;
    },
    get pids() {
      return [server?.pid, etcd.child.pid].filter((pid) => pid !== undefined);
    },
    stopServer: (how = "stop") => end(how),
    startServer: start,
    stop,
  };
}

async function startEtcd(binary: string, directory: string): Promise<{ url: string; child: ChildProcess }> {
  const url = `http://127.0.0.1:${await steadyPort()}`;
  const log = join(directory, "etcd.log");
  // Tests need no durability across a power failure.
  const flags = { "data-dir": join(directory, "etcd"), "listen-client-urls": url, "advertise-client-urls": url, "unsafe-no-fsync": "true" };
  const child = launch(binary, [...rendered(flags), "--listen-peer-urls=http://127.0.0.1:0", "--log-level=error"], log);
  const healthy = async (): Promise<boolean> => hasExited(child) || (await answers(`${url}/health`));
  if ((await waitUntil(healthy, startTimeoutMs, 20)) && !hasExited(child)) return { url, child };
  await endChild(child, "SIGKILL", stopTimeoutMs);
  throw new Error(`etcd did not start: ${await lastLines(log)}`);
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}

async function writeCredentials(directory: string, token: string): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  await mkdir(join(directory, "certs"));
  await writeFile(join(directory, "tokens.csv"), `${token},test-admin,test-admin,"system:masters"\n`, { mode: 0o600 });
  await writeFile(join(directory, "accounts.pub"), publicKey);
  await writeFile(join(directory, "accounts.key"), privateKey, { mode: 0o600 });
}

function serverFlags(directory: string, etcdUrl: string, port: number, more: readonly string[]): string[] {
  const flags = {
    "etcd-servers": etcdUrl,
    "bind-address": "127.0.0.1",
    "advertise-address": "127.0.0.1",
    "secure-port": String(port),
    "cert-dir": join(directory, "certs"),
    "token-auth-file": join(directory, "tokens.csv"),
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": join(directory, "accounts.pub"),
    "service-account-signing-key-file": join(directory, "accounts.key"),
    "service-cluster-ip-range": "10.0.0.0/24",
    "authorization-mode": "RBAC",
    "allow-privileged": "true",
    // No controller creates default service accounts here, and pods would be refused without them.
    "disable-admission-plugins": "ServiceAccount",
  };
  return [...rendered(flags), ...more];
}

const rendered = (flags: Readonly<Record<string, string>>): string[] => Object.entries(flags).map(([name, value]) => `--${name}=${value}`);

async function whenReady(
  child: ChildProcess,
  directory: string,
  { port, token, etcdUrl }: { port: number; token: string; etcdUrl: string },
): Promise<KubeAccess> {
  let access: KubeAccess | undefined;
  const ready = async (): Promise<boolean> => {
    if (hasExited(child)) return true;
    const ca = await readFile(join(directory, "certs", "apiserver.crt"), "utf8").catch(() => undefined);
    if (ca === undefined) return false;
    const candidate = { url: `https://127.0.0.1:${port}`, ca, token, etcdUrl };
    if (!(await isReady(candidate))) return false;
    access = candidate;
    return true;
  };
  await waitUntil(ready, startTimeoutMs, 200);
  if (access !== undefined) return access;
  await endChild(child, "SIGKILL", stopTimeoutMs);
  throw new Error(`kube-apiserver did not start: ${await lastLines(join(directory, "kube-apiserver.log"))}`);
}

async function isReady(access: KubeAccess): Promise<boolean> {
  const client = new KubeApiClient(access);
  try {
    return (await client.request("GET", "/readyz")).status === 200;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

/** Its output goes to a file, because a full pipe would block it. Not detached: Ctrl-C on a test run ends it too. */
function launch(binary: string, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, "a", 0o600);
  // They live for seconds or minutes, so a larger heap is cheaper than collecting garbage.
  const child = spawn(binary, args, { stdio: ["ignore", output, output], env: { GOGC: "400", ...process.env } });
  closeSync(output);
  child.on("error", () => undefined); // The readiness check reports a failed start.
  return tracked(child);
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trim().split("\n").slice(-4).join(" | ") || "it said nothing";
}
