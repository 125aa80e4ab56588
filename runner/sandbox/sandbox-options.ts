import type { DataStores } from "../../domain/data-store/data-stores.ts";
import type { RunFiles } from "../../domain/files/run-files.ts";
import type { LogRecord } from "../../domain/run-products.ts";
import type { JailMode } from "../../domain/jail-modes.ts";
import type { Jail } from "./jail/jail.ts";
import type { Dial, EgressPolicy } from "./network/connector.ts";
import type { TimeLimits } from "./limits.ts";
import type { SandboxProcesses } from "./processes/port.ts";

export interface SandboxLogger {
  warn(fields: object, message?: string): void;
}

/** What watches executions on a developer's machine. A sandbox of a runner has none. */
export interface SandboxDebug {
  /** Each execution waits for a debugger, and pauses at the first statement of its bundle. */
  readonly waits: boolean;
  /** An execution has begun. @param send takes messages of a debugger to V8's inspector */
  attach(send: (message: string) => void): void;
  /** A message of V8's inspector to the debugger. */
  onMessage(message: string): void;
  /** A line of the log, when it is written. */
  onLog(record: LogRecord): void;
}

export interface SandboxOptions {
  /** Keeps what is built once: the children's program, the guest's scripts, and code caches. Must be writable by us alone: it is trusted. */
  readonly cacheDirectory: string;
  /** Contains the bundles of all requests. */
  readonly bundleDirectory: string;
  /** Default: children of this process. */
  readonly processes?: SandboxProcesses;
  /** Children that owners share. Default: one per core. */
  readonly children?: number;
  /** Above 0, there are no shared children: each owner has an exclusive one, at most this many at once. */
  readonly ownerProcesses?: number;
  /** Which addresses components may reach. */
  readonly egress: EgressPolicy;
  /** What executions with `stores` use. Absent: their operations are refused. */
  readonly dataStores?: DataStores;
  /** What executions with `files` use. Absent: their operations on files are refused. */
  readonly runFiles?: RunFiles;
  /** Opens connections to the addresses that `egress` allows, where this process connects. Default: TCP. */
  readonly dial?: Dial;
  /** Whether children get their connections from this process, instead of connecting by themselves. Default: where that is possible. */
  readonly parentConnects?: boolean;
  /** Memory for the warm isolates of one child, MB. Default 384. */
  readonly memoryBudgetMb?: number;
  /** A child that uses more resident memory is killed, MB. Default 2048. */
  readonly residentLimitMb?: number;
  /** Default: those of limits.ts. */
  readonly timeLimits?: Partial<TimeLimits>;
  /** Default `auto`. */
  readonly jail?: JailMode;
  /** Why a jail cannot be used on this machine; undefined if it can. Default: starts one. */
  readonly findJailFailure?: (jail: Jail) => Promise<string | undefined>;
  readonly logger?: SandboxLogger;
  /** Absent: executions are not debugged. */
  readonly debug?: SandboxDebug;
}
