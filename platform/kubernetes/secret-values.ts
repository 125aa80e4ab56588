import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { apiVersion } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { SecretHolder, SecretValues, SettledHolder } from "../../crds/secret-values.ts";
import { HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import type { Kubernetes, KubernetesRequest } from "./connection.ts";
import { undefinedWhenMissing } from "./errors.ts";
import { kubernetesObject, parseObjectList, type KubernetesObject } from "./object.ts";
import { pathOf } from "./paths.ts";
import { selectorOf } from "./selector.ts";

export interface KubernetesSecretValuesOptions {
  /** How long to wait for the RoleBinding of a namespace that was made a moment ago. */
  readonly rightsTimeoutMs?: number;
  /** What was kept for a resource that was then not written ends after this long. */
  readonly abandonedAfterMs?: number;
}

const marks = {
  managedBy: "app.kubernetes.io/managed-by",
  kind: "headwater.dev/kept-for-kind",
  name: "headwater.dev/kept-for-name",
  /** Its own name: a copy that somebody makes has another, and is theirs. */
  keptAs: "headwater.dev/kept-as",
  /** The generation of the resource with which it was first referred to. */
  generation: "headwater.dev/kept-since-generation",
} as const;

/**
 * Secret texts in Secrets beside the resource. What was kept never changes (`immutable`): a new text is a new Secret, so whoever
 * runs by the former reference goes on with the former text, and nobody edits one and wonders why nothing happens.
 *
 * A Secret that no settle has seen yet belongs to a change under way and is left alone until it is old; a settled one ends when a
 * generation as new as its own does without it.
 */
export function createKubernetesSecretValues(kubernetes: Kubernetes, options: KubernetesSecretValuesOptions = {}): SecretValues {
  const { rightsTimeoutMs = 10_000, abandonedAfterMs = 600_000 } = options;
  const request = (asked: KubernetesRequest): Promise<unknown> => withRights(() => kubernetes.request(asked), rightsTimeoutMs);
  return {
    async keep(holder, texts) {
      const entries = Object.entries(texts);
      if (entries.length === 0) return {};
      const name = `${holder.name.slice(0, 52).replace(/[^a-z0-9]+$/, "")}-${randomName()}`;
      const keys = new Map(entries.map(([given], n) => [given, keyFor(given, n)]));
      const data = Object.fromEntries(entries.map(([given, text]) => [keys.get(given), Buffer.from(text).toString("base64")]));
      const body = { apiVersion: "v1", kind: "Secret", metadata: metadataOf(holder, name), type: "Opaque", immutable: true, data };
      await request({ method: "POST", path: secretsPath(holder.namespace), query: { fieldManager: "headwater" }, body }).catch(
        withoutTexts,
      );
      return Object.fromEntries([...keys].map(([given, key]) => [given, { secretKeyRef: { name, key } }]));
    },
    read: (namespace, reference) => readSecret(request, namespace, reference),
    async settle(holder, references) {
      const kept = await listKept(request, holder);
      const named = new Set(references.map(({ secretKeyRef }) => secretKeyRef?.name));
      for (const secret of kept) {
        if (named.has(secret.metadata.name)) await adopt(request, holder, secret);
        else if (hasEnded(holder, secret, abandonedAfterMs)) await end(request, secret);
      }
    },
  };
}

type Ask = (request: KubernetesRequest) => Promise<unknown>;

const secretsPath = (namespace: string): string => pathOf(["api", "v1", "namespaces", namespace, "secrets"]);
const secretPath = ({ metadata }: KubernetesObject): string => `${secretsPath(metadata.namespace)}${pathOf([metadata.name])}`;
const randomName = (): string =>
  BigInt(`0x${randomBytes(8).toString("hex")}`)
    .toString(36)
    .slice(0, 10)
    .padStart(10, "0");
/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data */
const keyFor = (given: string, n: number): string => (/^(?!\.\.?$)[-._a-zA-Z0-9]{1,253}$/.test(given) ? given : `value-${n}`);
/** Names may be longer than labels, which end with a letter or digit. A beginning alone could also be that of another resource's name. */
const labelOf = (name: string): string =>
  name.length <= 63 ? name : `${name.slice(0, 46)}-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;

const labelsOf = ({ kind, name }: SecretHolder): Readonly<Record<string, string>> => ({
  [marks.managedBy]: "headwater",
  [marks.kind]: kind,
  [marks.name]: labelOf(name),
});

function metadataOf(holder: SecretHolder, secret: string): object {
  return {
    name: secret,
    namespace: holder.namespace,
    labels: labelsOf(holder),
    annotations: { [marks.keptAs]: secret },
  };
}

const secretData = z.object({ data: z.record(z.string(), z.string()).default({}) });

async function readSecret(request: Ask, namespace: string, { secretKeyRef, sealed }: SecretReference): Promise<string> {
  if (secretKeyRef === undefined || sealed !== undefined)
    throw new InvalidInput("a secret is sealed, and in a cluster nothing is: put it into a Secret and name it by secretKeyRef");
  const { name, key } = secretKeyRef;
  const answer = await request({ method: "GET", path: `${secretsPath(namespace)}${pathOf([name])}` }).catch((error: unknown) => {
    if (error instanceof NotFound) throw new NotFound(`the Secret '${name}' does not exist in namespace '${namespace}'`, { cause: error });
    throw error;
  });
  const text = secretData.parse(answer).data[key];
  if (text === undefined) throw new NotFound(`the Secret '${name}' in namespace '${namespace}' has no key '${key}'`);
  return Buffer.from(text, "base64").toString("utf8");
}

/** Their names and marks, not what is in them. */
async function listKept(request: Ask, holder: SecretHolder): Promise<readonly KubernetesObject[]> {
  const answer = await request({
    method: "GET",
    path: secretsPath(holder.namespace),
    accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    query: { labelSelector: selectorOf(labelsOf(holder)) },
  });
  const secrets = parseObjectList(answer).items.map((item) => kubernetesObject.parse(item));
  return secrets.filter(({ metadata }) => metadata.annotations[marks.keptAs] === metadata.name);
}

async function adopt(request: Ask, { kind, name, uid, generation = 0 }: SettledHolder, secret: KubernetesObject): Promise<void> {
  const owners = secret.metadata.ownerReferences ?? [];
  if (owners.some((owner) => owner.uid === uid)) return;
  const body = {
    metadata: {
      resourceVersion: secret.metadata.resourceVersion,
      ownerReferences: [...owners, { apiVersion, kind, name, uid }],
      annotations: { [marks.generation]: String(generation) },
    },
  };
  const query = { fieldManager: "headwater" };
  await request({ method: "PATCH", path: secretPath(secret), query, contentType: "application/merge-patch+json", body }).catch(
    withoutTexts,
  );
}

function hasEnded({ uid, generation = Infinity }: SettledHolder, { metadata }: KubernetesObject, abandonedAfterMs: number): boolean {
  const isSettled = metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  if (!isSettled) return Date.now() - Date.parse(metadata.creationTimestamp) > abandonedAfterMs;
  return generation >= Number(metadata.annotations[marks.generation] ?? 0);
}

async function end(request: Ask, secret: KubernetesObject): Promise<void> {
  const { uid } = secret.metadata;
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
  await request({ method: "DELETE", path: secretPath(secret), body }).catch(undefinedWhenMissing);
}

/** A namespace of an owner has its RoleBindings a moment after itself. */
async function withRights<T>(attempt: () => Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await attempt();
    } catch (error) {
      const lacksRight = error instanceof HeadwaterError && error.code === "kubernetes_forbidden";
      if (!lacksRight || performance.now() + pauseMs > deadline) throw error;
      await delay(pauseMs);
    }
  }
}

/** What the server says of a Secret that it refuses could hold a part of it: its fields are enough. */
function withoutTexts(error: unknown): never {
  if (!(error instanceof InvalidInput)) throw error;
  const causes = z.array(z.object({ path: z.string() })).safeParse(error.details);
  const paths = causes.success ? causes.data.map(({ path }) => path).join(", ") : "";
  throw new InvalidInput(`Kubernetes refused a Secret of ours${paths === "" ? "" : `: ${paths}`}; its texts may have 1 MiB together`);
}
