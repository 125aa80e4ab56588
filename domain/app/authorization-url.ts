import type { AppOauth } from "./app.ts";

export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string;
  /** S256 (RFC 7636). */
  readonly codeChallenge: string;
}

/** The address that a browser opens (RFC 6749, section 4.1.1). Parameters of the flow replace those of the app. */
export function authorizationUrl(oauth: AppOauth & { readonly authorizationUrl: string }, request: AuthorizationRequest): string {
  const url = new URL(oauth.authorizationUrl);
  const { clientId, redirectUri, scopes, state, codeChallenge } = request;
  const parameters: Readonly<Record<string, string>> = {
    ...oauth.authorizationParameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scopes.length === 0 ? {} : { [oauth.scopeParameter ?? "scope"]: scopes.join(oauth.scopeSeparator ?? " ") }),
    state,
    ...(oauth.pkce === false ? {} : { code_challenge: codeChallenge, code_challenge_method: "S256" }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
