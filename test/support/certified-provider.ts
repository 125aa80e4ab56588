import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** How long its access tokens are valid: long enough for a slow machine, short enough that a test sees refreshes. */
const accessTokenSeconds = 20;

/** What a person sees of it: its own pages for signing in and for consent. */
export interface CertifiedProvider {
  readonly issuer: string;
  readonly client: { readonly client_id: string; readonly client_secret: string };
  /** Begins to serve this client. */
  serve(redirectUri: string): void;
  /** Number of tokens issued. */
  readonly issued: () => number;
  /** Refusals of its token endpoint. */
  readonly refusals: readonly string[];
  /** The person withdraws what was granted: refresh tokens are void. */
  withdraw(): Promise<void>;
  stop(): Promise<void>;
}

/** An OpenID Provider of another project, with PKCE, rotating refresh tokens, RFC 7009 and RFC 9207. */
export async function startCertifiedProvider(): Promise<CertifiedProvider> {
  let handler: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  const server: Server = createServer((request, response) =>
    handler === undefined ? response.writeHead(503).end() : handler(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Listening on TCP.
  const client = { client_id: "headwater", client_secret: randomBytes(24).toString("hex") };
  const granted = new Set<{ destroy(): Promise<void> }>();
  const refusals: string[] = [];
  let issued = 0;
  return {
    issuer,
    client,
    serve: (redirectUri) => {
      const provider = new Provider(issuer, {
        clients: [{ ...client, redirect_uris: [redirectUri], grant_types: ["authorization_code", "refresh_token"] }],
        cookies: { keys: [randomBytes(16).toString("hex")] },
        ttl: { AccessToken: accessTokenSeconds, Grant: 3_600, IdToken: 3_600, Interaction: 3_600, RefreshToken: 3_600, Session: 3_600 },
        features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
        scopes: ["openid", "offline_access"],
      });
      provider.on("grant.success", ({ oidc: { entities } }) => {
        issued++;
        for (const each of [entities.RefreshToken, entities.Grant]) if (each !== undefined) granted.add(each);
      });
      provider.on("grant.error", (_context, error) => refusals.push(error.message));
      provider.on("server_error", (_context, error) => refusals.push(`${error.stack}`));
      handler = provider.callback();
    },
    issued: () => issued,
    refusals,
    withdraw: async () => {
      for (const each of granted) await each.destroy();
      granted.clear();
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
