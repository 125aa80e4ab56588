import type { HttpResponse } from "../../../domain/invocation/invocation.ts";
import type { ExecuteRequest, Execution, Inspection, InspectRequest } from "../port.ts";

/** Messages between the parent and a child, several in one IPC message. */
export type ToChild =
  | { readonly kind: "start"; readonly options: ChildOptions }
  | {
      readonly kind: "execute";
      readonly id: number;
      readonly request: ExecuteRequest;
      /** The source gets an isolate of its own. */ readonly isApart: boolean;
      readonly wantsResponse: boolean;
    }
  | { readonly kind: "inspect"; readonly id: number; readonly request: InspectRequest }
  | { readonly kind: "evict"; readonly source: string }
  | { readonly kind: "ping" };

export type FromChild =
  | {
      readonly kind: "ready";
      /** Made now, for the parent to keep: absent when the files were good. */ readonly caches?: PreludeCaches;
    }
  | { readonly kind: "response"; readonly id: number; readonly response: HttpResponse }
  /** It has lasted a moment, and computes nothing now. */
  | { readonly kind: "paused"; readonly id: number }
  | { readonly kind: "executed"; readonly id: number; readonly execution: Execution }
  | { readonly kind: "inspected"; readonly id: number; readonly inspection: Inspection }
  | {
      readonly kind: "pong";
      readonly warm: Warm;
      /** Sources evicted since the last `pong` to make room for others. */ readonly evictions: number;
    }
  /** The child must be replaced; it takes no more work. */
  | { readonly kind: "poisoned"; readonly reason: string };

/** What a child keeps warm. */
export interface Warm {
  readonly isolates: number;
  readonly sources: number;
}

export interface PreludeCaches {
  readonly web: Uint8Array;
  readonly node: Uint8Array;
}

export interface ChildOptions {
  /** Guest scripts, and the code caches beside them. */
  readonly webPath: string;
  readonly nodePath: string;
  readonly egressAllow: readonly string[];
  readonly memoryBudgetBytes: number;
}

export const cachePath = (scriptPath: string): string => `${scriptPath}.${process.versions.v8}-${process.arch}.cache`;
