import type { Traces } from "../domain/traces.ts";
import type { Configuration, RoleName } from "../platform/process/settings/configuration.ts";
import type { RolePasswords } from "../platform/postgres/roles.ts";
import type { NatsConnection } from "../platform/process/nats/nats-connection.ts";
import type { Logger } from "../platform/telemetry/logger.ts";

/** What each role is started with. */
export interface RoleContext {
  readonly configuration: Configuration;
  /** Credentials of this role, or of setup before a role is started. Secret: never log it. */
  readonly nats: NatsConnection;
  /** Credentials of each role. */
  readonly natsOf: (role: RoleName) => NatsConnection;
  /** postgres://user:password@host:port/name. Never log it. Undefined in processes that must not reach Postgres. */
  readonly databaseUrl: string | undefined;
  /** The same for each role. */
  readonly databaseUrlOf: (role: RoleName) => string | undefined;
  /** Passwords of the roles' users; undefined unless this process started Postgres. */
  readonly databasePasswords: RolePasswords | undefined;
  /** An absolute path. */
  readonly dataDirectory: string;
  readonly logger: Logger;
  /** Absent if tracing is off. */
  readonly traces?: Traces | undefined;
}

export interface StartedRole {
  /** Finishes running work and releases everything; unfinished work is abandoned when `signal` aborts. */
  stop(signal: AbortSignal): Promise<void>;
  /** Checks that the role can do its work; the process checks its connections itself. @throws Unavailable */
  checkReady?(): Promise<void>;
  /** Resolves once the whole installation is usable. A process that runs all roles awaits it before it prints `lines`. */
  untilUsable?(): Promise<void>;
  /** Shown at the terminal after the start: addresses, the file with the key, a command to paste. */
  readonly lines?: readonly string[];
}

/** Each file `wiring/roles/<role>.ts` exports this as `start`. */
export type StartRole = (context: RoleContext) => Promise<StartedRole>;

/** Stops a part when the role releases what it has opened, in reverse order. */
export function disposeWith<Part extends { stop(): Promise<void> }>(opened: AsyncDisposableStack, part: Part): Part {
  opened.defer(() => part.stop());
  return part;
}
