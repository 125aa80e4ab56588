import { readFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import type { Context, KubeConfig, User } from "@kubernetes/client-node";
import { InvalidInput } from "../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { createClientAccess, type ClientEntry } from "./client-access.ts";
import { newKubeConfig } from "./client-credentials.ts";
import { completeUser, leftOutOf, type LeftOut } from "./kubeconfig-user.ts";

interface Part {
  readonly config: KubeConfig;
  readonly folder: string;
  readonly leftOut: LeftOut;
}

/** Access by the current context. @param files as KUBECONFIG has them: of several, the first that names a thing counts. @throws InvalidInput */
export async function readKubeconfig(files: string): Promise<ClusterAccess> {
  const parts = (await Promise.all(files.split(delimiter).filter(Boolean).map(readPart))).filter((part) => part !== undefined);
  if (parts.length === 0) throw invalidKubeconfig(files, "the file does not exist");
  const configs = parts.map(({ config }) => config);
  const all = await newKubeConfig();
  // Not mergeConfig: it takes the last current-context and refuses a name that comes twice, where kubectl takes the first.
  all.loadFromOptions({
    clusters: configs.flatMap(({ clusters }) => clusters),
    users: configs.flatMap(({ users }) => users),
    contexts: configs.flatMap(({ contexts }) => contexts),
    currentContext: configs.map(({ currentContext }) => currentContext).find(Boolean),
  });
  return createClientAccess(chosen(all, parts, files));
}

function chosen(all: KubeConfig, parts: readonly Part[], files: string): ClientEntry {
  const context = contextOf(all, files);
  const cluster = all.getCurrentCluster();
  if (cluster === null) throw invalidKubeconfig(files, `its cluster '${context.cluster}' is not among its clusters`);
  const user = userOf(all, context, files);
  const home = parts.find(({ config }) => config.users.includes(user));
  const left = home?.leftOut.get(user.name);
  return {
    cluster,
    user: completeUser(user, { ...left, folder: home?.folder ?? "", server: cluster.server }),
    namespace: context.namespace,
    groups: left?.groups,
  };
}

function contextOf(all: KubeConfig, files: string): Context {
  const name = all.getCurrentContext();
  if (!name) throw invalidKubeconfig(files, "it has no current-context");
  const context = all.getContextObject(name);
  if (context === null) throw invalidKubeconfig(files, `its current-context '${name}' is not among its contexts`);
  return context;
}

function userOf(all: KubeConfig, { user: name }: Context, files: string): User {
  // Without a user, client-node would not look at the cluster's certificate authority either.
  if (!name) return { name: "anonymous" };
  const user = all.getCurrentUser();
  if (user === null) throw invalidKubeconfig(files, `its user '${name}' is not among its users`);
  return user;
}

async function readPart(file: string): Promise<Part | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const [config, folder] = [await newKubeConfig(), dirname(file)];
  try {
    config.loadFromString(text);
    config.makePathsAbsolute(folder);
    return { config, folder, leftOut: await leftOutOf(text) };
  } catch (error) {
    throw invalidKubeconfig(file, whyOf(error));
  }
}

/** A parser quotes what it read, which may be a token: only what client-node itself says of missing fields is repeated. */
const whyOf = (error: unknown): string =>
  error instanceof Error && /^\w+\[\d+\][.\w]* is missing$/.test(error.message) ? error.message : "it is no YAML of a kubeconfig";

const invalidKubeconfig = (file: string, why: string): InvalidInput =>
  new InvalidInput(`the kubeconfig '${file}' cannot be used: ${why}`, { code: "invalid_kubeconfig" });
