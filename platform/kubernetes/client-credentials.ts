import type { RequestOptions } from "node:https";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { z } from "zod";
import { Unavailable } from "../../domain/errors.ts";
import type { ClusterAccess, Credentials } from "./access.ts";
import { codeOf } from "./errors.ts";

/** To answer, client-node reads files, and it may be asks a plugin: all who ask within this time are given the same. */
const keptMs = 1_000;
/** Longer than this nobody waits for a plugin; what it says later is for whoever asks then. */
const patienceMs = 30_000;

interface Asked {
  readonly renewed: boolean;
  readonly answer: Promise<Credentials>;
  /** Infinite while the answer is awaited. */
  until: number;
}

/** What client-node says of a user: certificate, token, token file, credential plugin, OpenID Connect. @throws Unavailable */
export function createCredentials(cluster: Cluster, user: User): ClusterAccess["credentials"] {
  // client-node cannot be told of a refusal: it keeps a file's token for a minute, a plugin's until it ends. A new one knows neither.
  let config: Promise<KubeConfig> | undefined;
  let kept: Asked | undefined;
  const ask = (renewed: boolean): Asked => {
    if (config === undefined || renewed || isByOpenId(user)) config = loadUser(cluster, user);
    const asked: Asked = { renewed, answer: config.then((each) => credentialsOf(each, user)), until: Infinity };
    asked.answer.then(
      () => (asked.until = performance.now() + keptMs),
      () => (asked.until = 0),
    );
    return asked;
  };
  return (renew) => {
    const awaited = kept?.until === Infinity;
    // Of many requests that were refused together, one asks.
    const fits = renew ? awaited && kept?.renewed === true : performance.now() < (kept?.until ?? 0);
    const asked = fits && kept !== undefined ? kept : ask(renew);
    kept = asked;
    return asked.until === Infinity ? inTime(asked.answer, user) : asked.answer;
  };
}

/** Loading client-node takes a second of processor time and 90 MB: only whoever speaks to a cluster has it loaded. */
export async function newKubeConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  return new KubeConfig();
}

/** client-node takes the life of a refreshed token for its end, and so would refresh it each time. A new one reads the end in the token. */
const isByOpenId = (user: User): boolean => named.safeParse(user).data?.authProvider?.name === "oidc";

async function loadUser(cluster: Cluster, user: User): Promise<KubeConfig> {
  const config = await newKubeConfig();
  config.loadFromClusterAndUser(cluster, user);
  return config;
}

const pem = z.union([z.string(), z.instanceof(Buffer)]).transform(String);
/** Of all that client-node sets for Node's https. */
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
    throw unobtainable(user, error);
  });
  const { headers, servername, rejectUnauthorized, ...material } = options.parse(set);
  const authorization = headers.Authorization?.trim() ?? basic(user); // A token file may end with a line break.
  if (isAsked(user) && authorization === undefined && material.cert === undefined) throw unobtainable(user);
  const tls = {
    ...material,
    ...(servername === undefined ? {} : { serverName: servername }),
    ...(rejectUnauthorized === false ? { insecure: true } : {}),
  };
  return { ...(authorization === undefined ? {} : { authorization }), tls };
}

const basic = ({ username, password }: User): string | undefined =>
  username ? `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` : undefined;

const isAsked = (user: User): boolean => Boolean(user.exec ?? user.authProvider);

const named = z.object({
  exec: z.object({ command: z.string() }).nullish(),
  authProvider: z.object({ name: z.string() }).nullish(),
});

/**
 * client-node's own errors are neither told nor kept as a cause: they quote what a plugin printed and how it was called, and so what
 * must not be seen. What is told of them is the system's code and file.
 */
function unobtainable(user: User, error?: unknown): Unavailable {
  const { exec, authProvider } = named.safeParse(user).data ?? {};
  const who = exec
    ? `the credential plugin '${basename(exec.command)}'`
    : authProvider
      ? `the auth provider '${authProvider.name}'`
      : "the files that are named";
  const path = error instanceof Error && "path" in error && typeof error.path === "string" ? ` ${error.path}` : "";
  const code = codeOf(error);
  const why = code === undefined ? "" : ` (${code}${path})`;
  return unauthenticated(`no credentials for Kubernetes come from ${who}${why}`);
}

const unauthenticated = (message: string): Unavailable => new Unavailable(message, { code: "kubernetes_unauthenticated" });

async function inTime(answer: Promise<Credentials>, { name }: User): Promise<Credentials> {
  const answered = new AbortController();
  const late = delay(patienceMs, undefined, { signal: answered.signal, ref: false }).then(() => {
    throw unauthenticated(`the credentials of '${name}' for Kubernetes did not come within ${patienceMs / 1_000} s`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
