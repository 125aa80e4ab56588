import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { apiVersion, group, version, type Kind, type Metadata, type Resource } from "../../../crds/resource.ts";
import type { NewResource } from "../../../crds/resource-store.ts";
import { issuesOf, parseMetadata, parseSpec, sayIssues } from "../../../crds/validate.ts";
import { pathOf } from "../paths.ts";
import { kubernetesObject } from "../object.ts";

/** kubectl's copy of the last applied object, which would double a resource's memory. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const base = ["apis", group, version];
  return namespace === undefined || namespace === ""
    ? pathOf([...base, kind.plural])
    : pathOf([...base, "namespaces", namespace, kind.plural]);
}

export const resourcePath = (kind: Kind, namespace: string, name: string): string => `${collectionPath(kind, namespace)}${pathOf([name])}`;

/**
 * Converts an object to a resource. It may have been stored under another version of its definition: invalid status fields are dropped; an
 * invalid spec is returned as it is, and `invalid` describes the problem.
 */
export function resourceFrom<S, T>(kind: Kind<S, T>, value: unknown): Resource<S, T> {
  const { metadata, spec, status } = kubernetesObject.parse(value);
  const { [lastApplied]: _, ...annotations } = metadata.annotations;
  const parsed = kind.spec.safeParse(spec ?? {});
  return {
    apiVersion,
    kind: kind.kind,
    metadata: { ...metadata, annotations },
    // The spec violates the kind's type, which `invalid` reports.
    spec: parsed.success ? parsed.data : ((spec ?? {}) as S),
    status: statusFrom(kind, observed(status)),
    ...(parsed.success ? {} : { invalid: sayIssues(issuesOf("spec", parsed.error)) }),
  };
}

const fields = z.record(z.string(), z.unknown()).catch({});
const unobserved = z.looseObject({ observedGeneration: z.literal(-1) });

/** The default of the definitions is no status: it is for kstatus, until the operator has seen the resource. */
const observed = (status: unknown): unknown => (unobserved.safeParse(status).success ? {} : status);

function statusFrom<S, T>(kind: Kind<S, T>, status: unknown): T {
  const parsed = kind.status.safeParse(status ?? {});
  if (parsed.success) return parsed.data;
  const wrong = new Set(parsed.error.issues.map(({ path }) => path[0]));
  const rest = Object.fromEntries(Object.entries(fields.parse(status)).filter(([name]) => !wrong.has(name)));
  const again = kind.status.safeParse(rest);
  return again.success ? again.data : ({} as T); // All fields of a status are optional.
}

/** @throws InvalidInput */
export function newObject<S, T>(kind: Kind<S, T>, given: NewResource<S>): unknown {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = parseMetadata(kind, given, given.name);
  const spec = parseSpec(kind, given.name, given.spec);
  const scoped = namespace === "" ? {} : { namespace };
  const owned = ownerReferences === undefined ? {} : { ownerReferences };
  return { apiVersion, kind: kind.kind, metadata: { name, ...scoped, labels, annotations, finalizers, ...owned }, spec };
}

const storedObject = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) });

/**
 * Applies the changes of a resource to the stored object it was read from, and keeps everything else: unknown fields, defaults, fields of
 * others. Undefined when nothing changed. @throws InvalidInput
 */
export function changedObject<S, T>(kind: Kind<S, T>, stored: unknown, desired: Resource<S, T>): unknown {
  const read = resourceFrom(kind, stored);
  // An unchanged invalid spec must not prevent changes of the finalizers.
  const spec = isDeepStrictEqual(read.spec, desired.spec) ? read.spec : parseSpec(kind, read.metadata.name, desired.spec);
  const before = { metadata: changeable(read.metadata), spec: read.spec };
  const after = { metadata: { ...before.metadata, ...changeable(desired.metadata) }, spec };
  return isDeepStrictEqual(before, after) ? undefined : carry(storedObject.parse(stored), before, after);
}

function changeable({ labels, annotations, finalizers, ownerReferences }: Metadata): Partial<Metadata> {
  return { labels, annotations, finalizers, ...(ownerReferences === undefined ? {} : { ownerReferences }) };
}

/** Applies the difference between `before` and `after` to `stored`: objects by field, other values as a whole. */
function carry(stored: unknown, before: unknown, after: unknown): unknown {
  if (isDeepStrictEqual(before, after)) return stored;
  if (!isFields(stored) || !isFields(before) || !isFields(after)) return after;
  const result = { ...stored };
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const value = carry(stored[name], before[name], after[name]);
    if (value === undefined) delete result[name];
    else result[name] = value;
  }
  return result;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
