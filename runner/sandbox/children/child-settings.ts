import type { DataStores } from "../../../domain/data-store/data-stores.ts";
import type { RunFiles } from "../../../domain/files/run-files.ts";
import type { SandboxDebug } from "../sandbox-options.ts";
import type { Connector } from "../network/connector.ts";
import type { SandboxProcesses } from "../processes/port.ts";
import type { ChildOptions } from "./protocol.ts";

export interface ChildSettings {
  readonly processes: SandboxProcesses;
  /** Starts a child's program. */
  readonly command: () => readonly string[];
  readonly child: ChildOptions;
  /** Connects on behalf of the child. */
  readonly connector: Connector;
  /** Absent: props have no stores. */
  readonly dataStores?: DataStores | undefined;
  /** Absent: executions with `files` cannot reach them. */
  readonly runFiles?: RunFiles | undefined;
  /** Absent: its executions are not debugged. */
  readonly debug?: SandboxDebug | undefined;
  readonly residentLimitBytes: number;
  readonly onStderr: (text: string) => void;
  /** The child evicted that many warm sources to make room for others. */
  readonly onEvictions: (count: number) => void;
  readonly onReady: () => void;
  /** The child takes no more work. Called once, before its executions settle if it died. */
  readonly onLost: (reason: string) => void;
  /** The process has ended. Called once. */
  readonly onExit: () => void;
  /** Runs the whole process at a low CPU priority. */
  readonly isLowPriority: boolean;
}
