import type { Traces } from "../domain/traces.ts";
import type { Configuration, RoleName } from "../platform/process/settings/configuration.ts";
import type { RolePasswords } from "../platform/postgres/roles.ts";
import type { NatsConnection } from "../platform/process/nats/nats-connection.ts";
import type { Logger } from "../platform/telemetry/logger.ts";

/** What every role is started with. */
export interface RoleContext {
  readonly configuration: Configuration;
  /** What this role connects with; before a role is started, what sets things up. Holds secrets: never log it. */
  readonly nats: NatsConnection;
  /** What each role connects with. */
  readonly natsOf: (role: RoleName) => NatsConnection;
  /** postgres://user:password@host:port/name. Never log it. Undefined in processes that must not reach it. */
  readonly databaseUrl: string | undefined;
  /** What each role connects to Postgres with. */
  readonly databaseUrlOf: (role: RoleName) => string | undefined;
  /** Of the roles' users in a Postgres of ours. */
  readonly databasePasswords: RolePasswords | undefined;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly logger: Logger;
  /** Absent: there are none. */
  readonly traces?: Traces | undefined;
}

export interface StartedRole {
  /** Finishes what is under way and lets go of everything. When `signal` aborts, there is no time left. */
  stop(signal: AbortSignal): Promise<void>;
  /** Can it do its work now? The process's connections are looked after elsewhere. @throws Unavailable */
  checkReady?(): Promise<void>;
  /** Resolves once the whole installation can be used. To be awaited by a process that runs all roles, before it says so. */
  untilUsable?(): Promise<void>;
  /** What a person at the terminal should know once everything runs: addresses, where the key is, a command to paste. */
  readonly lines?: readonly string[];
}

/** `wiring/<role>.ts` exports this as `start`. */
export type StartRole = (context: RoleContext) => Promise<StartedRole>;
