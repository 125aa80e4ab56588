import type { Configuration, Configured } from "./configure.ts";
import type { DryRun, DryRunOutcome } from "./dry-run.ts";
import type { EventMetadata } from "./event-metadata.ts";
import type { RunError } from "./run-error.ts";
import type { HttpResponse, LogRecord } from "./run-products.ts";
import type { TraceContext } from "./traces.ts";

export type { RunError } from "./run-error.ts";
export type { HttpResponse, LogRecord } from "./run-products.ts";

/**
 * An invocation is a durable request to run a source once: a message on the stream INVOCATIONS (a work queue).
 * The ingress packs several into one message; everything else makes packs of one.
 */
/**
 * `configure` makes no run of a source: a function of a component is called while somebody configures it, see domain/configure.ts. What a
 * `dry-run` makes leaves nothing, see domain/dry-run.ts.
 */
export const triggers = ["timer", "http", "event", "manual", "hook", "configure", "dry-run"] as const;
export type Trigger = (typeof triggers)[number];

export const hooks = ["deploy", "activate", "deactivate"] as const;
export type Hook = (typeof hooks)[number];

/** What it follows from is its trace context, see domain/traces.ts. */
export interface Invocation extends TraceContext {
  /** Public id of the source, `dc_…`; of a `configure`, the id of the call; of a `dry-run`, that of the run. */
  readonly source: string;
  readonly trigger: Trigger;
  /** Id of the run this will become (`r_…`); without one, the runner derives it from the invocation number. */
  readonly run?: string;
  /** Epoch ms at which it was made; without it, the time the server stored the message (ticks). */
  readonly at?: number;
  /** What `run` receives, as a JSON value: for `http` an {@link HttpEvent}, for `timer` a {@link TimerEvent} without timestamp. */
  readonly event?: unknown;
  /** Of that event, when a source emitted it: what `run` receives beside it. */
  readonly metadata?: EventMetadata;
  /** Which hook to run; set exactly when `trigger` is `hook`. */
  readonly hook?: Hook;
  /** What to call and with what; set exactly when `trigger` is `configure`. */
  readonly configure?: Configuration;
  /** What to run; set exactly when `trigger` is `dry-run`. */
  readonly dryRun?: DryRun;
  /** The runner must see at least this generation of the deployment entry; it reads the entry again if it holds an older one. */
  readonly generation?: number;
  /** This tick is a link of a chained timer of that prop: the runner arms the next link before it acks this one. */
  readonly chain?: string;
  /** Do not commit emits (the `emit_on_deploy: false` of a deploy hook). */
  readonly discardEvents?: boolean;
  /** Of an `event`: what its delivery is known by, so that a source runs with it once; see domain/heard.ts. */
  readonly delivery?: string;
  /** Deliveries from source to source that led to this; absent: none. See domain/hops.ts. */
  readonly hops?: number;
  /** The last sources on that way. */
  readonly way?: readonly string[];
  /** Ticks of this chain that were left out before this link, because they fell due while none could run. */
  readonly skippedTicks?: number;
  /** Where it stood before its source moved to another pool: by this it is recognized when it is moved twice, or was answered there. */
  readonly movedFrom?: InvocationNumber & { readonly pool: string; readonly storedAt: number };
  /** NATS subject to which {@link Answer} messages go, best effort, beside the commit. */
  readonly answerTo?: string;
}

/** What an HTTP-triggered `run` receives; the guest adds `body`, parsed from `bodyRaw` by content type. */
export interface HttpEvent {
  readonly method: string;
  /** Path below the endpoint, beginning with `/`. */
  readonly path: string;
  /** The whole address as called. */
  readonly url: string;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly client_ip: string;
  /** The body as text when it is valid UTF-8; absent when there is none. */
  readonly bodyRaw?: string;
  /** The body in base64 when it is not valid UTF-8. */
  readonly bodyBase64?: string;
  /** Set by the ingress for forms and multipart; JSON is parsed in the guest. */
  readonly body?: unknown;
}

export interface TimerEvent {
  /** Epoch seconds at which the tick was due. */
  readonly timestamp: number;
  readonly interval_seconds: number | null;
  readonly cron?: string;
  readonly timezone?: string;
}

/** Where an invocation stands in INVOCATIONS: stream sequence of its message and index within the pack. */
export interface InvocationNumber {
  readonly seq: number;
  readonly index: number;
}

/** Messages on `answerTo`, at most one of each kind per run. */
export type Answer =
  | { readonly kind: "response"; readonly response: HttpResponse }
  | { readonly kind: "run"; readonly run: RunSummary }
  | { readonly kind: "configured"; readonly configured: Configured }
  | { readonly kind: "dry-run"; readonly outcome: DryRunOutcome };

/** What is told of a run when it ends; `POST /v1/sources/{id}/runs` answers with it, the recorder keeps it. */
export interface RunSummary {
  readonly id: string;
  readonly source: string;
  readonly trigger: Trigger;
  readonly hook?: Hook;
  readonly generation: number;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly eventIds: readonly string[];
  readonly logs: readonly LogRecord[];
  readonly error: RunError | null;
  /** JSON text of what `run` returned, when it is JSON of at most 64 KiB; else null. */
  readonly result: string | null;
}

/** Puts a pack together from invocations already encoded as JSON texts, so that nothing is encoded twice. */
export function encodePack(invocations: readonly string[]): string {
  return `{"invocations":[${invocations.join(",")}]}`;
}

export function decodePack(text: string): readonly Invocation[] {
  // Only the API, the ingress, the operator and the delivery role can write to the stream, each from typed values.
  return (JSON.parse(text) as { invocations: Invocation[] }).invocations;
}
