import type { RequestOptions } from "node:https";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { z } from "zod";
import { Unavailable } from "../../../domain/errors.ts";
import type { ClusterAccess, Credentials } from "./access.ts";
import { codeOf } from "../errors.ts";

/** client-node reads files and may run a plugin on each call: calls within this time share one result. */
const cacheMs = 1_000;
/** Timeout of a credential plugin. Later callers get a late result. */
const pluginTimeoutMs = 30_000;

interface CachedCredentials {
  readonly renewed: boolean;
  readonly answer: Promise<Credentials>;
  /** Infinite while the answer is awaited. */
  until: number;
}

/** The user's credentials from client-node: certificate, token, token file, credential plugin, OpenID Connect. @throws Unavailable */
export function createCredentials(cluster: Cluster, user: User): ClusterAccess["credentials"] {
  // client-node has no way to report rejected credentials: it caches a file's token for a minute, a plugin's until it expires. A new one caches
  // nothing.
  let config: Promise<KubeConfig> | undefined;
  let cached: CachedCredentials | undefined;
  const ask = (renewed: boolean): CachedCredentials => {
    if (config === undefined || renewed || usesOpenId(user)) config = loadUser(cluster, user);
    const entry: CachedCredentials = { renewed, answer: config.then((each) => credentialsOf(each, user)), until: Infinity };
    entry.answer.then(
      () => (entry.until = performance.now() + cacheMs),
      () => (entry.until = 0),
    );
    return entry;
  };
  return (renew) => {
    const awaited = cached?.until === Infinity;
    // Of many requests rejected together, one renews.
    const fits = renew ? awaited && cached?.renewed === true : performance.now() < (cached?.until ?? 0);
    const entry = fits && cached !== undefined ? cached : ask(renew);
    cached = entry;
    return entry.until === Infinity ? withTimeout(entry.answer, user) : entry.answer;
  };
}

/** Loading client-node takes a second of CPU time and 90 MB, so only processes that use a cluster load it. */
export async function newKubeConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  return new KubeConfig();
}

/**
 * client-node takes the lifetime of a refreshed token for its expiry and would refresh it each time. A new one reads the expiry from the
 * token.
 */
const usesOpenId = (user: User): boolean => named.safeParse(user).data?.authProvider?.name === "oidc";

async function loadUser(cluster: Cluster, user: User): Promise<KubeConfig> {
  const config = await newKubeConfig();
  config.loadFromClusterAndUser(cluster, user);
  return config;
}

const pem = z.union([z.string(), z.instanceof(Buffer)]).transform(String);
/** The fields used, of those that client-node sets for Node's https. */
const options = z.object({
  headers: z.object({ Authorization: z.string().optional() }),
  ca: pem.exactOptional(),
  cert: pem.exactOptional(),
  key: pem.exactOptional(),
  servername: z.string().optional(),
  rejectUnauthorized: z.boolean().optional(),
});

async function credentialsOf(config: KubeConfig, user: User): Promise<Credentials> {
  const set: RequestOptions = {};
  await config.applyToHTTPSOptions(set).catch((error: unknown) => {
    throw unavailable(user, error);
  });
  const { headers, servername, rejectUnauthorized, ...material } = options.parse(set);
  const authorization = headers.Authorization?.trim() ?? basic(user); // A token file may end with a line break.
  if (isDynamic(user) && authorization === undefined && material.cert === undefined) throw unavailable(user);
  const tls = {
    ...material,
    ...(servername === undefined ? {} : { serverName: servername }),
    ...(rejectUnauthorized === false ? { insecure: true } : {}),
  };
  return { ...(authorization === undefined ? {} : { authorization }), tls };
}

const basic = ({ username, password }: User): string | undefined =>
  username ? `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` : undefined;

const isDynamic = (user: User): boolean => Boolean(user.exec ?? user.authProvider);

const named = z.object({
  exec: z.object({ command: z.string() }).nullish(),
  authProvider: z.object({ name: z.string() }).nullish(),
});

/**
 * Reports only the system's code and file: client-node's own errors quote a plugin's output and command line, which may contain secrets.
 * They are not kept as a cause either.
 */
function unavailable(user: User, error?: unknown): Unavailable {
  const { exec, authProvider } = named.safeParse(user).data ?? {};
  const who = exec
    ? `the credential plugin '${basename(exec.command)}'`
    : authProvider
      ? `the auth provider '${authProvider.name}'`
      : "the configured files";
  const path = error instanceof Error && "path" in error && typeof error.path === "string" ? ` ${error.path}` : "";
  const code = codeOf(error);
  const why = code === undefined ? "" : ` (${code}${path})`;
  return unauthenticated(`no credentials for Kubernetes were obtained from ${who}${why}`);
}

const unauthenticated = (message: string): Unavailable => new Unavailable(message, { code: "kubernetes_unauthenticated" });

async function withTimeout(answer: Promise<Credentials>, { name }: User): Promise<Credentials> {
  const answered = new AbortController();
  const late = delay(pluginTimeoutMs, undefined, { signal: answered.signal, ref: false }).then(() => {
    throw unauthenticated(`the credentials of '${name}' for Kubernetes were not obtained within ${pluginTimeoutMs / 1_000} s`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
