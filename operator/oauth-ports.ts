import type { ClientAuthentication, Placement, RequestFormat, TestRequest } from "../domain/app/app.ts";

/** Requests to the endpoints of a service while an account is connected or deleted. They never throw, and never return what was sent. */
export interface OauthService {
  exchange(request: CodeRequest): Promise<CodeOutcome>;
  /** Whose token it is; undefined if the service does not say. */
  identify(test: TestRequest, placement: Placement | undefined, token: string): Promise<Identity>;
  /** RFC 7009. Returns whether the service has accepted it. */
  revoke(request: RevocationRequest): Promise<boolean>;
}

export interface ServiceClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly clientAuthentication: ClientAuthentication;
}

/** How a token endpoint deviates from RFC 6749, as its app says. */
export interface TokenEndpointForm {
  readonly requestFormat?: RequestFormat | undefined;
  readonly tokenParameters?: Readonly<Record<string, string>> | undefined;
  readonly tokenPath?: string | undefined;
}

export interface CodeRequest extends ServiceClient, TokenEndpointForm {
  readonly tokenUrl: string;
  readonly code: string;
  readonly redirectUri: string;
  /** Absent: the authorization request had no code challenge. */
  readonly verifier?: string | undefined;
  /** The issuer that the app names, and the one in the redirect (RFC 9207). */
  readonly issuer?: { readonly expected: string; readonly given: string | undefined } | undefined;
  /** Paths in the response. */
  readonly tokenFields: readonly string[];
}

export interface RevocationRequest extends ServiceClient {
  readonly revocationUrl: string;
  readonly token: string;
  readonly kind: "access_token" | "refresh_token";
}

export interface Identity {
  readonly name?: string | undefined;
  readonly picture?: string | undefined;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly expiresInSeconds?: number | undefined;
  /** As in the response; undefined: it has none. */
  readonly scope?: unknown;
  /** Further fields of the response that become credentials. */
  readonly fields: Readonly<Record<string, string>>;
}

export type CodeOutcome =
  | { readonly outcome: "issued"; readonly tokens: IssuedTokens }
  | { readonly outcome: "issuer_mismatch" }
  | { readonly outcome: "refused"; readonly why: string }
  | { readonly outcome: "unavailable"; readonly why: string };
