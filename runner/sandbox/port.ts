import type { BoundProp } from "../../domain/component/configure.ts";
import type { FileChanges } from "../../domain/files/run-files.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import type { HttpResponse, LogRecord, RunError, TakePiece } from "../../domain/run-products.ts";
import type { Hook } from "../../domain/trigger.ts";
import type { Warning } from "../../domain/component/warning.ts";
import type { SendKind } from "../../domain/workflow/run-state.ts";

/**
 * The sandbox as its users see it: code and inputs in, outcome out. Isolates live in child processes that can die at any moment; that
 * is an outcome (`crashed`), never an exception. The caller serializes the runs of one source.
 */
export interface Sandbox {
  /**
   * Runs `run` or a hook of a component in the warm context of its source, which is created if need be. Sources of one owner with the
   * same bundle share an isolate: if another one ends it, the run is repeated once in an isolate of its own. If the child process
   * crashes, the run is repeated once in an exclusive child.
   *
   * @param onPause called when a run that has lasted a moment waits for I/O: it neither computes nor queues for a slot to do so
   * @throws Unavailable when the sandbox is stopped, or when no child process can be started: the run has not begun
   */
  execute(request: ExecuteRequest, onResponse?: OnResponse, onPause?: () => void): Promise<Execution>;
  /**
   * Evaluates a bundle in a new isolate and reads its definition. Errors name the line, prop or type.
   *
   * @throws Unavailable as `execute` does
   */
  inspect(request: InspectRequest): Promise<Inspection>;
  /** Drops the warm context of a source that was deleted or changed. */
  evict(source: string): void;
  stats(): SandboxStats;
  /** Lets executions end until the signal aborts, then kills the children. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface ExecuteRequest {
  readonly source: string;
  readonly owner: string;
  /** The source's context is reused while this stays the same (bundle hash + deployment id). */
  readonly revision: string;
  readonly bundle: Bundle;
  /** `configure` makes the call in `event` in an isolate of its own, which ends with it; `source` then names the call. */
  readonly entry: "run" | Hook | "configure";
  /**
   * JSON text of the event given to `run`; "null" for hooks. HTTP events as domain/invocation/invocation.ts: the guest makes `body`. For
   * `configure` a ConfigureCall of domain/component/configure.ts.
   */
  readonly event: string;
  /** JSON text of the second argument of `run`; absent: none. */
  readonly metadata?: string;
  /** JSON text: configured prop values by name, secrets included. */
  readonly props: string;
  /** prop name → key → JSON text. */
  readonly db: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly endpoint: string | null;
  /** What `additionalProps` gave when the source was configured. */
  readonly additionalProps?: readonly BoundProp[];
  /** Values of `process.env`: PD_COMPONENT, and of inline code the variables of its owner. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ExecuteLimits;
  /** Runs `run({steps, $})` of an action, as a step of a workflow. Absent: it is a source. */
  readonly action?: ActionRequest;
  /** The data stores that its props may use. Absent: none. */
  readonly stores?: StoreAccess;
  /** The files that the steps of its run share. Absent: what it writes to /tmp is gone with its context. */
  readonly files?: FileAccess;
  /** Runs it in an exclusive child where nothing else runs: the last run of its source cost its process. */
  readonly alone?: boolean;
}

/** The parent of the sandbox processes decides by it which store a prop reaches. */
export interface StoreAccess {
  /** Id or resource name of a store of the owner, by prop. */
  readonly byProp: Readonly<Record<string, string>>;
  /** Identifies the run among all of the owner, and is the same when it is repeated: so its changes are made once. */
  readonly run: string;
}

/** The parent of the sandbox processes decides by it which files a step reaches. */
export interface FileAccess {
  /** Id of the workflow, and of its run. */
  readonly workflow: string;
  readonly run: string;
  /** Of the run so far, in order: domain/files/run-files.ts. */
  readonly layers: readonly string[];
}

/** What an action gets besides its props, all as JSON text that the guest parses. */
export interface ActionRequest {
  /** `{trigger: {event, context}, <step>: {<export>: value}}`: the argument `steps`, and what expressions in props read. */
  readonly steps: string;
  /** `$.context`. */
  readonly context: string;
  /** What `$.flow.suspend`, `delay` and `rerun` return. */
  readonly resumeUrl: string;
  readonly cancelUrl: string;
  /** What the URLs of files of the run begin with: the name of a manifest and that of the file follow. Absent: they have none. */
  readonly filesUrl?: string;
  /** JSON object of the variables that expressions may read as `env.NAME`; absent: none. */
  readonly variables?: string;
  /** Names of props whose values are secret: they contain no expressions, and are not in `inputs`. App props are never evaluated. */
  readonly secretProps?: readonly string[];
}

/** Called with the response of a run, again if the run is repeated. @returns for a streamed one, what takes its body; absent: it has no reader */
export type OnResponse = (response: HttpResponse) => TakePiece | void;

/** What a run reports while it goes on. */
export interface Listeners {
  readonly onResponse?: OnResponse | undefined;
  readonly onPause?: (() => void) | undefined;
}

export interface Bundle {
  readonly hash: string;
  /** File the children may read. */
  readonly path: string;
  readonly needsNode: boolean;
}

export interface ExecuteLimits {
  /** Wall time, ms. Default 300,000 for runs. */
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

export type Execution =
  | ({
      readonly outcome: "returned";
      /** JSON text, or null when it is not JSON or over 64 KiB (1 MiB for `configure`, 4 MiB for actions). */ readonly result:
        | string
        | null;
    } & Products)
  | ({ readonly outcome: "threw"; readonly error: RunError } & Products)
  /**
   * One of our limits ended it, and its module state is gone. `endedIsolate`: it computed without a pause or filled the memory, so that
   * its isolate was disposed. `costProcess`: its process had to be killed to end it, or died of it.
   */
  | ({ readonly outcome: "limited"; readonly error: RunError; readonly endedIsolate?: boolean; readonly costProcess?: boolean } & Products)
  /** Its child process died under it, also when it was repeated. `costProcess`: nothing else ran in that process. */
  | { readonly outcome: "crashed"; readonly message: string; readonly costProcess?: boolean };

export interface Products {
  /** In order of `$emit`; flushed also when the run threw. */
  readonly emits: readonly Emit[];
  readonly logs: readonly LogRecord[];
  /** Only keys that changed: prop → key → JSON text, or null when it was set to undefined. */
  readonly db: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  /** Of an action: the last `$.respond` without `immediate`. An immediate one is only announced by `onResponse`. */
  readonly response: HttpResponse | null;
  /** Set exactly if the request was for an action. */
  readonly action?: ActionProducts;
  readonly durationMs: number;
  readonly cpuMs: number;
}

export interface ActionProducts {
  /** By name of `$.export`, `$summary` among them: JSON text. */
  readonly exports: Readonly<Record<string, string>>;
  /** The last call of `$.flow`; null: none. */
  readonly flow: FlowRequest | null;
  /** In order of `$.send`; kept only if the action returned. */
  readonly sends: readonly ActionSend[];
  /** JSON text: the values of the props that contain expressions. Null: there are none, or they have more than 64 KiB. */
  readonly inputs: string | null;
  /** What it has changed of the files of its run; absent: nothing. Kept only if the action returned. */
  readonly files?: FileChanges;
}

export type FlowRequest =
  | { readonly kind: "exit"; readonly reason: string | null }
  | { readonly kind: "delay"; readonly ms: number }
  /** `ms`: null if the call gave none. */
  | { readonly kind: "suspend"; readonly ms: number | null }
  /** `context`: JSON text. */
  | { readonly kind: "rerun"; readonly ms: number; readonly context: string | null; readonly maxRetries: number | null };

export interface ActionSend {
  readonly kind: SendKind;
  /** JSON text of the argument, which the guest has checked: domain/workflow/run-state.ts has the form of an emit. */
  readonly argument: string;
  /** Epoch ms of the call. */
  readonly at: number;
}

export interface Emit {
  /** JSON text. */
  readonly payload: string;
  /** As given, checked by the host: id is a string or finite number, the rest as facts on `$emit`. */
  readonly id?: string | number;
  readonly name?: string;
  readonly summary?: string;
  readonly ts?: number;
  readonly deliverAt?: number;
  /** Epoch ms of the call. */
  readonly at: number;
}

export interface InspectRequest {
  readonly bundle: Bundle;
  /** Absent: all inspections without an owner share the slots of one owner. */
  readonly owner?: string;
  readonly timeoutMs: number;
}

export type Inspection =
  | { readonly outcome: "read"; readonly definition: ComponentDefinition; readonly warnings?: readonly Warning[] }
  /** `code`: `no_run`, `no_name`, `unknown_prop_type`, `evaluation_timeout`, `evaluation_error`, …; line and column refer to the bundle. */
  | {
      readonly outcome: "rejected";
      readonly code: string;
      readonly message: string;
      readonly prop?: string;
      readonly line?: number;
      readonly column?: number;
      readonly stack?: string;
    };

export interface SandboxStats {
  /** Child processes that are alive. */
  readonly children: number;
  /** Warm isolates in them. */
  readonly isolates: number;
  /** Warm sources, each with a context in one of these isolates. */
  readonly sources: number;
  readonly residentBytes: number;
  /** Warm sources that were evicted so far to make room for others. */
  readonly evictions: number;
  /** Why the last start of a child failed; undefined if it succeeded. */
  readonly startFailure: string | undefined;
  /** Starts that have failed so far. */
  readonly startFailures: number;
}
