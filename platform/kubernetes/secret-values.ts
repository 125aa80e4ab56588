import { hash, randomBytes } from "node:crypto";
import { z } from "zod";
import { apiVersion, labels, ownFieldManager } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { SecretHolder, SecretValues, SettledHolder } from "../../crds/secret-values.ts";
import { HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { Kubernetes, KubernetesRequest } from "./access/connection.ts";
import { undefinedWhenMissing } from "./errors.ts";
import { kubernetesObject, parseObject, parseObjectList, type KubernetesObject } from "./object.ts";
import { pathOf } from "./paths.ts";
import { selectorOf } from "./resources/selector.ts";

export interface KubernetesSecretValuesOptions {
  /** How long to wait for the RoleBinding of a new namespace. */
  readonly rightsTimeoutMs?: number;
  /** Age after which a Secret is deleted whose resource was never written. */
  readonly abandonedAfterMs?: number;
}

const metadataKeys = {
  managedBy: "app.kubernetes.io/managed-by",
  kind: "headwater.dev/kept-for-kind",
  name: "headwater.dev/kept-for-name",
  /** Its own name: a copy made by a user has another name and is not ours. */
  keptAs: "headwater.dev/kept-as",
  /** The generation of the resource that first referred to it. */
  generation: "headwater.dev/kept-since-generation",
} as const;

/**
 * Stores secret values in Secrets next to the resource. A stored value is `immutable`: a new value is a new Secret, so that users of the
 * old reference keep the old value, and an edit cannot be silently ignored.
 *
 * A Secret that was never settled belongs to a change in progress and is kept until it is old; a settled one is deleted when a generation
 * as new as its own no longer refers to it.
 */
export function createKubernetesSecretValues(kubernetes: Kubernetes, options: KubernetesSecretValuesOptions = {}): SecretValues {
  const { rightsTimeoutMs = 10_000, abandonedAfterMs = 600_000 } = options;
  const request = (asked: KubernetesRequest): Promise<unknown> => withRights(() => kubernetes.request(asked), rightsTimeoutMs);
  return {
    async keep(holder, values) {
      const entries = Object.entries(values);
      if (entries.length === 0) return {};
      const name = `${holder.name.slice(0, 52).replace(/[^a-z0-9]+$/, "")}-${randomName()}`;
      const keys = new Map(entries.map(([given], n) => [given, keyFor(given, n)]));
      const data = Object.fromEntries(entries.map(([given, text]) => [keys.get(given), Buffer.from(text).toString("base64")]));
      const body = { apiVersion: "v1", kind: "Secret", metadata: metadataOf(holder, name), type: "Opaque", immutable: true, data };
      await request({ method: "POST", path: secretsPath(holder.namespace), query: { fieldManager: ownFieldManager }, body }).catch(
        withoutTexts,
      );
      return Object.fromEntries([...keys].map(([given, key]) => [given, { secretKeyRef: { name, key } }]));
    },
    read: (holder, reference) => readSecret(request, holder, reference),
    async adopt(holder, references) {
      const named = namesOf(references);
      if (named.size === 0) return;
      // Without the wait for rights: in a namespace in deletion they do not come back.
      const requestOnce: Request = (each) => kubernetes.request(each);
      for (const secret of await listKept(requestOnce, holder))
        if (named.has(secret.metadata.name)) await adopt(requestOnce, holder, secret);
    },
    async settle(holder, references) {
      const kept = await listKept(request, holder);
      const named = namesOf(references);
      for (const secret of kept) {
        if (named.has(secret.metadata.name)) await adopt(request, holder, secret);
        else if (hasEnded(holder, secret, abandonedAfterMs)) await deleteSecret(request, secret);
      }
    },
  };
}

type Request = (request: KubernetesRequest) => Promise<unknown>;

const namesOf = (references: readonly SecretReference[]): ReadonlySet<string> =>
  new Set(references.flatMap(({ secretKeyRef }) => secretKeyRef?.name ?? []));
const secretsPath = (namespace: string): string => pathOf(["api", "v1", "namespaces", namespace, "secrets"]);
const secretPath = ({ metadata }: KubernetesObject): string => `${secretsPath(metadata.namespace)}${pathOf([metadata.name])}`;
const randomName = (): string =>
  BigInt(`0x${randomBytes(8).toString("hex")}`)
    .toString(36)
    .slice(0, 10)
    .padStart(10, "0");
/** https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data */
const keyFor = (given: string, n: number): string => (/^(?!\.\.?$)[-._a-zA-Z0-9]{1,253}$/.test(given) ? given : `value-${n}`);
/** Label values are shorter than names and end with a letter or digit. The hash distinguishes names with the same prefix. */
const labelOf = (name: string): string => (name.length <= 63 ? name : `${name.slice(0, 46)}-${hash("sha256", name).slice(0, 16)}`);

const labelsOf = ({ kind, name }: SecretHolder): Readonly<Record<string, string>> => ({
  [metadataKeys.managedBy]: "headwater",
  [metadataKeys.kind]: kind,
  [metadataKeys.name]: labelOf(name),
});

function metadataOf(holder: SecretHolder, secret: string): object {
  return {
    name: secret,
    namespace: holder.namespace,
    labels: labelsOf(holder),
    annotations: { [metadataKeys.keptAs]: secret },
  };
}

const secretData = z.object({ data: z.record(z.string(), z.string()).default({}) });

/**
 * A resource hands the text to its component. Users who write resources and may not read Secrets would read every Secret of the namespace
 * this way. So a resource may refer to the Secrets that are stored for it, and to those whose label allows it.
 * @throws InvalidInput
 */
function checkReferable(holder: SecretHolder, { metadata }: KubernetesObject): void {
  const { name, namespace, labels: present, annotations } = metadata;
  if (present[metadataKeys.managedBy] === "headwater" && annotations[metadataKeys.keptAs] === name) {
    const isOwn = Object.entries(labelsOf(holder)).every(([key, value]) => present[key] === value);
    if (isOwn) return;
    throw new InvalidInput(
      `the Secret '${name}' is stored for another resource than ${holder.kind} '${holder.name}': store the value in a Secret of your own`,
    );
  }
  if (present[labels.referable] === "true") return;
  throw new InvalidInput(
    `the Secret '${name}' in namespace '${namespace}' may not be referred to: label it ${labels.referable}=true to allow all who write Headwater's resources there to use it`,
  );
}

async function readSecret(request: Request, holder: SecretHolder, { secretKeyRef, sealed }: SecretReference): Promise<string> {
  const { namespace } = holder;
  if (secretKeyRef === undefined || sealed !== undefined)
    throw new InvalidInput("a secret is sealed, which a cluster does not support: put it into a Secret and refer to it with secretKeyRef");
  const { name, key } = secretKeyRef;
  const response = await request({ method: "GET", path: `${secretsPath(namespace)}${pathOf([name])}` }).catch((error: unknown) => {
    if (error instanceof NotFound) throw new NotFound(`the Secret '${name}' does not exist in namespace '${namespace}'`, { cause: error });
    throw error;
  });
  checkReferable(holder, parseObject(response));
  const text = secretData.parse(response).data[key];
  if (text === undefined) throw new NotFound(`the Secret '${name}' in namespace '${namespace}' has no key '${key}'`);
  return Buffer.from(text, "base64").toString("utf8");
}

/** Only their metadata. */
async function listKept(request: Request, holder: SecretHolder): Promise<readonly KubernetesObject[]> {
  const response = await request({
    method: "GET",
    path: secretsPath(holder.namespace),
    accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    query: { labelSelector: selectorOf(labelsOf(holder)) },
  });
  const secrets = parseObjectList(response).items.map((item) => kubernetesObject.parse(item));
  return secrets.filter(({ metadata }) => metadata.annotations[metadataKeys.keptAs] === metadata.name);
}

async function adopt(request: Request, { kind, name, uid, generation = 0 }: SettledHolder, secret: KubernetesObject): Promise<void> {
  const owners = secret.metadata.ownerReferences ?? [];
  if (owners.some((owner) => owner.uid === uid)) return;
  const body = {
    metadata: {
      resourceVersion: secret.metadata.resourceVersion,
      ownerReferences: [...owners, { apiVersion, kind, name, uid }],
      annotations: { [metadataKeys.generation]: String(generation) },
    },
  };
  const query = { fieldManager: ownFieldManager };
  await request({ method: "PATCH", path: secretPath(secret), query, contentType: "application/merge-patch+json", body }).catch(
    withoutTexts,
  );
}

function hasEnded({ uid, generation = Infinity }: SettledHolder, { metadata }: KubernetesObject, abandonedAfterMs: number): boolean {
  const isSettled = metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  if (!isSettled) return Date.now() - Date.parse(metadata.creationTimestamp) > abandonedAfterMs;
  return generation >= Number(metadata.annotations[metadataKeys.generation] ?? 0);
}

async function deleteSecret(request: Request, secret: KubernetesObject): Promise<void> {
  const { uid } = secret.metadata;
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
  await request({ method: "DELETE", path: secretPath(secret), body }).catch(undefinedWhenMissing);
}

/** The RoleBindings of an owner's namespace follow shortly after the namespace. */
async function withRights<T>(attempt: () => Promise<T>, timeoutMs: number): Promise<T> {
  const isTransient = (error: unknown): boolean => error instanceof HeadwaterError && error.code === "kubernetes_forbidden";
  return retry(attempt, { firstMs: 100, maxMs: 1_000, withinMs: timeoutMs, isTransient });
}

/** Reports only field paths: the server's message could contain part of the Secret. */
function withoutTexts(error: unknown): never {
  if (!(error instanceof InvalidInput)) throw error;
  const causes = z.array(z.object({ path: z.string() })).safeParse(error.details);
  const paths = causes.success ? causes.data.map(({ path }) => path).join(", ") : "";
  throw new InvalidInput(`Kubernetes rejected a Secret${paths === "" ? "" : `: ${paths}`}; its values may have at most 1 MiB in total`);
}
