import type { SecretReference } from "../../crds/secret-reference.ts";
import type { App } from "../../domain/app/app.ts";
import type { CodeExchange, ConnectionProblem, ConnectionRequest, ExchangeResult } from "../../domain/connection/connection.ts";

/** A request to connect an account, from its start until some time after its end. */
export interface StoredConnection {
  /** `con_…`. */
  readonly id: string;
  readonly owner: string;
  /** Who began it, and may finish it. */
  readonly user: string;
  /** The session of the console in which it began; null: it began with an API key. */
  readonly session: string | null;
  readonly request: ConnectionRequest;
  /** Of PKCE; null once it was used. */
  readonly verifier: string | null;
  readonly outcome: ConnectionOutcome | null;
  readonly isUsed: boolean;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type ConnectionOutcome =
  | { readonly status: "connected"; readonly account: string; readonly missingScopes: readonly string[] }
  | ({ readonly status: "failed" } & ConnectionProblem);

export interface NewConnection extends Omit<StoredConnection, "outcome" | "isUsed" | "verifier"> {
  readonly verifier: string;
  /** SHA-256 of the state, lower-case hex: the state itself is only in the browser. */
  readonly stateHash: string;
}

/** Connections. They end by themselves: an owner has a bounded number, and expired ones are deleted. */
export interface Connections {
  /** Of an owner's unfinished connections, the oldest end when there are too many. */
  start(connection: NewConnection): Promise<void>;
  find(id: string): Promise<StoredConnection | undefined>;
  findByState(stateHash: string): Promise<StoredConnection | undefined>;
  /** Takes the state, once: undefined if it was used before or has expired. `now`: epoch ms. */
  use(stateHash: string, now: number): Promise<StoredConnection | undefined>;
  finish(id: string, outcome: ConnectionOutcome): Promise<void>;
}

/** Requests to services, which the operator makes. */
export interface ServiceConnector {
  /** @throws Unavailable */
  exchange(request: CodeExchange): Promise<ExchangeResult<SecretReference>>;
  /** Best effort. @param account a resource @throws Unavailable */
  revoke(account: { readonly namespace: string; readonly name: string }): Promise<void>;
}

/** What connecting accounts needs. */
export interface ConnectingPorts {
  /** The apps that come with Headwater, by slug. */
  readonly builtInApps: ReadonlyMap<string, App>;
  readonly connections: Connections;
  readonly connector: ServiceConnector;
}
