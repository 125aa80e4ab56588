import { z } from "zod";
import { InvalidInput } from "../domain/errors.ts";
import { issuesOfChange, issuesOfRules } from "./check.ts";
import { resourceName, type Kind, type PathIssue } from "./resource.ts";

// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
const labelKey = z
  .string()
  .regex(
    /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
    "a label key is at most 63 letters, digits, '-', '_', '.' after an optional prefix",
  );
const labelValue = z
  .string()
  .regex(
    /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/,
    "a label value is at most 63 letters, digits, '-', '_', '.', and begins and ends with a letter or digit",
  );
const annotationValue = z
  .string()
  .max(262_144)
  .refine((text) => !text.includes("\0"), "an annotation must not contain U+0000");
const ownerReference = z.object({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  name: z.string().min(1),
  uid: z.string().min(1),
  controller: z.boolean().exactOptional(),
  blockOwnerDeletion: z.boolean().exactOptional(),
});

const common = {
  name: resourceName,
  labels: z.record(labelKey, labelValue).default({}),
  annotations: z.record(labelKey, annotationValue).default({}),
  finalizers: z.array(labelKey).default([]),
  ownerReferences: z.array(ownerReference).exactOptional(),
};
const namespaced = z.object({ ...common, namespace: resourceName });
const clusterScoped = z.object({ ...common, namespace: z.literal("", "a cluster-scoped resource has no namespace") });

export type GivenMetadata = z.infer<typeof namespaced>;

/** Parses the metadata of a resource before it is written. @throws InvalidInput naming every invalid path */
export function parseMetadata<S, T>(kind: Kind<S, T>, metadata: unknown, name: string): GivenMetadata {
  return parse({ kind: kind.kind, name, root: "metadata" }, kind.scope === "Cluster" ? clusterScoped : namespaced, metadata);
}

/** Applies defaults. @throws InvalidInput naming every invalid path */
export function parseSpec<S, T>(kind: Kind<S, T>, name: string, spec: unknown): S {
  const parsed = parse({ kind: kind.kind, name, root: "spec" }, kind.spec, spec);
  refuse(kind.kind, name, issuesOfRules(kind, { metadata: { name }, spec: parsed }));
  return parsed;
}

/** @param before the stored spec @throws InvalidInput naming every changed immutable field */
export function checkChange<S, T>(kind: Kind<S, T>, name: string, before: S, after: S): void {
  refuse(kind.kind, name, issuesOfChange(kind, before, after));
}

/** @throws InvalidInput naming every invalid path */
export function parseStatus<S, T>(kind: Kind<S, T>, name: string, status: unknown): T {
  return parse({ kind: kind.kind, name, root: "status" }, kind.status, status);
}

function parse<V>({ kind, name, root }: { kind: string; name: string; root: string }, schema: z.ZodType<V>, value: unknown): V {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(kind, name, issuesOf(root, parsed.error));
}

function refuse(kind: string, name: string, issues: readonly PathIssue[]): void {
  if (issues.length > 0) throw invalid(kind, name, issues);
}

function invalid(kind: string, name: string, issues: readonly PathIssue[]): InvalidInput {
  return new InvalidInput(`${kind} '${name}' is invalid: ${sayIssues(issues)}`, { details: issues });
}

/** Names paths and rules but never values: a value may be a secret. */
export function issuesOf(root: string, error: z.ZodError): readonly PathIssue[] {
  return error.issues.map((issue) => ({ path: [root, ...issue.path].join("."), message: issue.message }));
}

export const sayIssues = (issues: readonly PathIssue[]): string => issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
