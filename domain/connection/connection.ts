import type { ClientAuthentication } from "../app/app.ts";

/** A person has so long to sign in at the service. */
export const connectionMs = 10 * 60_000;

/** Why a connection failed, for programs. */
export const connectionFailures = [
  "access_denied",
  "expired",
  "other_session",
  "other_user",
  "issuer_mismatch",
  "service_error",
  "token_refused",
  "token_endpoint_unavailable",
  "client_changed",
  "account_deleted",
  "not_stored",
] as const;
export type ConnectionFailure = (typeof connectionFailures)[number];

export interface ConnectionProblem {
  readonly code: ConnectionFailure;
  /** What happened and what to do, for people. */
  readonly message: string;
}

/** What a request to connect an account asks for. Stored until the browser comes back. */
export interface ConnectionRequest {
  readonly app: string;
  readonly appName: string;
  /** Public id of the OAuth client. */
  readonly client: string;
  readonly scopes: readonly string[];
  /** Name for a new account. */
  readonly name?: string | undefined;
  /** Public id of the account to connect again. */
  readonly account?: string | undefined;
}

/** A code of the authorization endpoint, to be exchanged for tokens. */
export interface CodeExchange {
  readonly namespace: string;
  /** Name of the Account, which need not exist yet. */
  readonly account: string;
  readonly client: string;
  readonly code: string;
  /** `iss` of the redirect (RFC 9207). */
  readonly issuer?: string | undefined;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** Secrets are references: only the operator sees the texts. */
export interface ConnectedCredentials<Reference> {
  readonly outcome: "connected";
  readonly credentials: Readonly<Record<string, Reference>>;
  /** Absent: the service gave no refresh token. */
  readonly oauth?: ConnectedOauth<Reference> | undefined;
  /** When the access token expires, RFC 3339, if it cannot be refreshed. Absent: it does not expire, or the service does not say. */
  readonly expiresAt?: string | undefined;
  readonly scopes: readonly string[];
  readonly missingScopes: readonly string[];
  readonly name?: string | undefined;
  readonly picture?: string | undefined;
}

export interface ConnectedOauth<Reference> {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientAuthentication: ClientAuthentication;
  readonly refreshToken: Reference;
  /** RFC 3339. */
  readonly expiresAt?: string | undefined;
}

export type ExchangeResult<Reference> = ConnectedCredentials<Reference> | ({ readonly outcome: "failed" } & ConnectionProblem);
