import { parseMetadata, parseSpec, parseStatus } from "../../../crds/validate.ts";
import type { Kind, OwnerReference } from "../../../crds/resource.ts";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import { listedComponent } from "./listed-component.ts";

export interface CheckedMetadata {
  readonly name: string;
  readonly namespace: string;
  /** JSON. */
  readonly labels: string;
  readonly annotations: string;
  readonly finalizers: readonly string[];
  /** JSON; null without any. */
  readonly ownerReferences: string | null;
}

/** @throws InvalidInput with every invalid path */
export function checkMetadata<S, T>(
  kind: Kind<S, T>,
  given: { readonly name: string; readonly ownerReferences?: readonly OwnerReference[] },
): CheckedMetadata {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = parseMetadata(kind, given, given.name);
  return {
    name,
    namespace,
    labels: canonicalJson(labels),
    annotations: canonicalJson(annotations),
    finalizers,
    ownerReferences: ownerReferences === undefined ? null : canonicalJson(ownerReferences),
  };
}

/** Applies defaults. Returns canonical JSON. @throws InvalidInput with every invalid path */
export function checkSpec<S, T>(kind: Kind<S, T>, name: string, spec: unknown): string {
  return canonicalJson(parseSpec(kind, name, spec));
}

export interface EncodedStatus {
  readonly json: string;
  /** For lookups in lists; other fields are only read as a whole. */
  readonly nameSlug: string | null;
  /** For lists and searches of components: JSON without U+0000; null unless it is a built component. */
  readonly component: string | null;
}

export function checkStatus<S, T>(kind: Kind<S, T>, name: string, status: unknown): EncodedStatus {
  return encodeStatus(parseStatus(kind, name, status));
}

export function encodeStatus(status: unknown): EncodedStatus {
  const slug = typeof status === "object" && status !== null && "nameSlug" in status ? status.nameSlug : null;
  return {
    json: canonicalJson(status),
    nameSlug: typeof slug === "string" ? slug.replaceAll("\0", "") : null,
    component: listedComponent(status),
  };
}
