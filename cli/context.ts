import type { Client } from "../client/client.ts";
import type { Completion } from "./completion/completion.ts";
import type { Output } from "./output/output.ts";
import type { Terminal } from "./output/terminal.ts";
import type { Profile } from "./profile/profile.ts";

/** What every command gets. */
export interface OfflineContext {
  readonly out: Output;
  readonly terminal: Terminal;
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
  /** Value of `--profile`. */
  readonly profileName: string | undefined;
  /** Finds the installation; the caller closes the connection. @throws Failure if there is none */
  connect(): Promise<Connection>;
  /** Completes the last of the words of a command line. */
  complete(words: readonly string[]): Promise<Completion>;
}

/** What a command that uses the API gets. */
export interface Context extends OfflineContext {
  readonly client: Client;
  readonly profile: Profile;
}

export interface Connection {
  readonly client: Client;
  readonly profile: Profile;
  close(): Promise<void>;
}
