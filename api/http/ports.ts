import type { TrustedProxies } from "../../domain/client-address.ts";

export interface User {
  /** `u_…`. */
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

/** `read` is for GET and HEAD, `write` for everything else; neither includes the other. */
export const scopes = ["read", "write"] as const;
export type Scope = (typeof scopes)[number];

/** Scopes and expiry of a key. */
export interface KeyGrant {
  readonly scopes: readonly Scope[];
  /** Epoch ms; null: it does not expire. */
  readonly expiresAt: number | null;
}

/** A key that is not revoked, and its user. */
export interface SignInKey extends KeyGrant {
  readonly id: string;
  readonly name: string;
  readonly user: User;
}

export interface Keys {
  /** `hash`: SHA-256 of the API key, lower-case hex. Returns expired keys too, so that the error can say so. */
  findKey(hash: string): Promise<SignInKey | undefined>;
}

/** A session of the console; a link begins one, once. `hash`: SHA-256 of its token, lower-case hex. */
export interface NewSession {
  readonly hash: string;
  /** The API key on which it depends. */
  readonly keyHash: string;
  /** Epoch ms. */
  readonly expiresAt: number;
  readonly isLink?: boolean;
}

/** Sessions of the console. `now`: epoch ms. */
export interface Sessions {
  startSession(session: NewSession, now: number): Promise<void>;
  /** The hash of the session's API key; undefined if the session is unknown or has expired. */
  findSession(hash: string, now: number): Promise<string | undefined>;
  /** The hash of the link's API key, the first time; then undefined, as for an unknown or expired link. */
  useLink(hash: string, now: number): Promise<string | undefined>;
  endSession(hash: string): Promise<void>;
}

export interface ReadinessReport {
  readonly ready: boolean;
  /** "ok" or what is missing, by name. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface ServerLimits {
  /** Maximum time to receive a complete request. */
  readonly requestTimeoutMs: number;
  /** Maximum time without a byte in either direction on a connection that is not idle; longer than a response may take. */
  readonly silenceTimeoutMs: number;
  readonly maxConnections: number;
  readonly trustedProxies: TrustedProxies;
}
