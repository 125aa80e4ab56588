import { readFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import type { Context, KubeConfig, User } from "@kubernetes/client-node";
import { InvalidInput } from "../../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { createClientAccess, type ClientEntry } from "./client-access.ts";
import { newKubeConfig } from "./client-credentials.ts";
import { completeUser, readUnreadFields, type UnreadFields } from "./kubeconfig-user.ts";

interface Part {
  readonly config: KubeConfig;
  readonly folder: string;
  readonly unread: UnreadFields;
}

/** Access by the current context. @param files as in KUBECONFIG: the first file that defines a name wins @throws InvalidInput */
export async function readKubeconfig(files: string): Promise<ClusterAccess> {
  const parts = (await Promise.all(files.split(delimiter).filter(Boolean).map(readPart))).filter((part) => part !== undefined);
  if (parts.length === 0) throw invalidKubeconfig(files, "the file does not exist");
  const configs = parts.map(({ config }) => config);
  const all = await newKubeConfig();
  // Not mergeConfig: it uses the last current-context and rejects duplicate names, where kubectl uses the first.
  all.loadFromOptions({
    clusters: configs.flatMap(({ clusters }) => clusters),
    users: configs.flatMap(({ users }) => users),
    contexts: configs.flatMap(({ contexts }) => contexts),
    currentContext: configs.map(({ currentContext }) => currentContext).find(Boolean),
  });
  return createClientAccess(selectEntry(all, parts, files));
}

function selectEntry(all: KubeConfig, parts: readonly Part[], files: string): ClientEntry {
  const context = contextOf(all, files);
  const cluster = all.getCurrentCluster();
  if (cluster === null) throw invalidKubeconfig(files, `its cluster '${context.cluster}' is not among its clusters`);
  const user = userOf(all, context, files);
  const part = parts.find(({ config }) => config.users.includes(user));
  const fields = part?.unread.get(user.name);
  return {
    cluster,
    user: completeUser(user, { ...fields, folder: part?.folder ?? "", server: cluster.server }),
    namespace: context.namespace,
    groups: fields?.groups,
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
  // Without a user, client-node ignores the cluster's certificate authority as well.
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
    return { config, folder, unread: await readUnreadFields(text) };
  } catch (error) {
    throw invalidKubeconfig(file, whyOf(error));
  }
}

/** Parsers quote their input, which may contain a token: only client-node's messages about missing fields are repeated. */
const whyOf = (error: unknown): string =>
  error instanceof Error && /^\w+\[\d+\][.\w]* is missing$/.test(error.message) ? error.message : "it is not a kubeconfig in YAML";

const invalidKubeconfig = (file: string, why: string): InvalidInput =>
  new InvalidInput(`the kubeconfig '${file}' cannot be used: ${why}`, { code: "invalid_kubeconfig" });
