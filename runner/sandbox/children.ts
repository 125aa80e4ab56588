import type { ChildSettings, SandboxChild } from "./child-process.ts";
import type { Culprits } from "./culprits.ts";
import type { Sandbox } from "./port.ts";

/** Child processes, and which of them a request goes to. */
export interface SandboxChildren {
  readonly execute: Sandbox["execute"];
  readonly inspect: Sandbox["inspect"];
  /** Those that take work now. */
  alive(): readonly SandboxChild[];
  stop(): void;
}

export interface ChildrenSettings {
  readonly child: Omit<ChildSettings, "onLost">;
  /** Resolves when the code caches that the first child made, if it did, are in their files. */
  readonly cachesWritten: () => Promise<void>;
  /** Warm isolates that went to make room for others, in all children so far. */
  readonly evictions: () => number;
  readonly culprits: Culprits;
  readonly logger: SandboxLogger | undefined;
}

export interface SandboxLogger {
  warn(fields: object, message?: string): void;
}
