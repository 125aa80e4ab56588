import { z } from "zod";
import {
  Conflict,
  Gone,
  type HeadwaterError,
  InvalidInput,
  Invariant,
  LimitExceeded,
  NotFound,
  QuotaExceeded,
  Unavailable,
} from "../../domain/errors.ts";

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
const statusObject = z.object({
  kind: z.literal("Status"),
  message: z.string().default(""),
  reason: z.string().default(""),
  code: z.number().optional(),
  details: z
    .object({
      name: z.string().optional(),
      kind: z.string().optional(),
      retryAfterSeconds: z.number().optional(),
      causes: z
        .array(z.object({ reason: z.string().default(""), message: z.string().default(""), field: z.string().default("") }))
        .default([]),
    })
    .optional(),
});
export type StatusObject = z.infer<typeof statusObject>;

export interface Refusal {
  /** HTTP status. */
  readonly status: number;
  /** Response body, parsed if it is JSON. */
  readonly body: unknown;
  /** Retry-After header, seconds. */
  readonly retryAfter?: string | undefined;
  /** The request: `GET /api/v1/namespaces/x`. */
  readonly asked: string;
}

/** Maps an error response of the API server to one of our errors. */
export function errorFrom(refusal: Refusal): HeadwaterError {
  const parsed = statusObject.safeParse(refusal.body);
  const object = parsed.success ? parsed.data : undefined;
  const message = object?.message || `Kubernetes answered ${refusal.status} to ${refusal.asked}`;
  switch (refusal.status) {
    case 400:
      return invalidFrom(object, message);
    case 401:
      return new Unavailable(`Kubernetes rejects our credentials (${refusal.asked})`, { code: "kubernetes_unauthenticated" });
    case 403:
      return forbiddenFrom(object, message);
    case 404:
      // Without a name, the server does not know the path: the kind is not installed.
      if (object?.details?.name === undefined)
        return new Unavailable(`Kubernetes does not know ${refusal.asked}: install Headwater's resource definitions`, {
          code: "kubernetes_kind_missing",
        });
      return new NotFound(message);
    case 409:
      return conflictFrom(object, message);
    case 410:
      return new Gone(message);
    case 413:
      return new LimitExceeded(message);
    case 422:
      return invalidFrom(object, message);
    default:
      return unavailableFrom(refusal, object, message);
  }
}

function unavailableFrom({ status, retryAfter }: Refusal, object: StatusObject | undefined, message: string): HeadwaterError {
  // etcd's own limit of 1.5 MiB is reported as a server error.
  if (message.includes("request is too large"))
    return new LimitExceeded("the resource is too large: Kubernetes stores at most 1.5 MiB per resource");
  if (status < 500 && status !== 429) return new Invariant(`Kubernetes answered ${status}: ${message}`);
  const seconds = object?.details?.retryAfterSeconds ?? Number(retryAfter ?? NaN);
  return new Unavailable(`Kubernetes is unavailable: ${message}`, {
    code: "kubernetes_unavailable",
    details: Number.isFinite(seconds) && seconds > 0 ? { status, retryAfterMs: seconds * 1_000 } : { status },
  });
}

function conflictFrom(object: StatusObject | undefined, message: string): Conflict {
  return object?.reason === "AlreadyExists" ? new Conflict(message, { code: "already_exists" }) : new Conflict(message);
}

/** Not our Forbidden, which refers to the rights of a caller: here Headwater itself lacks a right. */
function forbiddenFrom(object: StatusObject | undefined, message: string): HeadwaterError {
  if (object?.details?.causes.some(({ reason }) => reason === "NamespaceTerminating") === true)
    return new Conflict(message, { code: "namespace_ends" });
  if (message.includes("exceeded quota")) return new QuotaExceeded(message);
  if (message.includes("denied the request") || message.includes("violates PodSecurity")) return new InvalidInput(message);
  return new Unavailable(`Headwater lacks a right in the cluster: ${message}`, { code: "kubernetes_forbidden" });
}

function invalidFrom(object: StatusObject | undefined, message: string): InvalidInput {
  const causes = (object?.details?.causes ?? []).map((cause) => ({ path: cause.field, message: withoutValue(cause.message) }));
  if (causes.length === 0) return new InvalidInput(message);
  const name = object?.details?.name;
  const lines = causes.map((cause) => (cause.path === "" ? cause.message : `${cause.path}: ${cause.message}`)).join("; ");
  return new InvalidInput(`${object?.details?.kind ?? "object"}${name === undefined ? "" : ` '${name}'`} is invalid: ${lines}`, {
    details: causes,
  });
}

/**
 * Removes the rejected value, which may be a secret: `Invalid value: "x": must be …` → `must be …`. For an object that violates a rule
 * there is no value: `Invalid value: set exactly one of …`.
 */
export function withoutValue(message: string): string {
  const [, kind, rest] = /^((?:Invalid|Unsupported|Duplicate) value): (.*)$/s.exec(message) ?? [];
  if (kind === undefined || rest === undefined) return message;
  const quoted = /^"(?:[^"\\]|\\.)*"(?:: (.*))?$/s.exec(rest);
  if (quoted !== null) return quoted[1] ?? kind.toLowerCase();
  const bracketed = /^[[{].*[\]}](?:: (.*))?$/s.exec(rest);
  if (bracketed !== null) return bracketed[1] ?? kind.toLowerCase();
  const plain = /^[^\s:]+: (.*)$/s.exec(rest);
  if (plain !== null) return plain[1] ?? kind.toLowerCase();
  return /^[A-Za-z]+,? /.test(rest) ? rest : kind.toLowerCase();
}

/** Maps undici's errors for requests without a response. */
export function unreachable(error: unknown, asked: string): Unavailable {
  const code = codeOf(error);
  return new Unavailable(`Kubernetes cannot be reached (${asked}): ${code ?? (error instanceof Error ? error.message : "no answer")}`, {
    code: "kubernetes_unavailable",
    cause: error,
    details: { connection: code ?? "lost" },
  });
}

/** For `catch`: maps NotFound to undefined. */
export function undefinedWhenMissing(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The delay that the server asked for, ms. */
export function retryAfterOf(error: unknown): number | undefined {
  const parsed = z.object({ details: z.object({ retryAfterMs: z.number() }) }).safeParse(error);
  return parsed.success ? parsed.data.details.retryAfterMs : undefined;
}
