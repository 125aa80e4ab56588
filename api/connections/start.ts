import { hash } from "node:crypto";
import type { FoundApp } from "../../crds/app-library.ts";
import { takesClientCredentials } from "../../domain/app/app.ts";
import { authorizationUrl } from "../../domain/app/authorization-url.ts";
import { connectionMs, type ConnectionRequest } from "../../domain/connection/connection.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { hashOf } from "../http/access/hash.ts";
import type { Call } from "../http/request/call.ts";
import type { ApiContext } from "../context.ts";
import { callbackPath } from "../oauth-clients/client.ts";
import { publicIdOf } from "../resources/identity.ts";

interface Wanted extends Pick<ConnectionRequest, "name" | "account"> {
  /** Undefined: those of the client, or of the app. */
  readonly scopes: readonly string[] | undefined;
}

/** Begins to connect an account of the app, or an existing one again. The state is only in the returned address. @throws InvalidInput */
export async function startConnection(app: FoundApp, owner: string, wanted: Wanted, call: Call, context: ApiContext) {
  const { config, ports, apps } = context;
  const { oauth } = app;
  if (takesClientCredentials(app))
    throw new InvalidInput(
      `accounts of '${app.slug}' are not connected in a browser, because they get tokens with the id and secret of a client: give them as client_credentials when you create or update the account`,
      { code: "app_not_connectable" },
    );
  if (app.auth !== "oauth2" || oauth?.authorizationUrl === undefined)
    throw new InvalidInput(
      `accounts of '${app.slug}' are not connected in a browser, because it takes ${app.auth}: POST /v1/accounts stores them`,
      {
        code: "app_not_connectable",
      },
    );
  const client = await apps.clientFor(await ports.owners.find(owner), app);
  const redirectUri = config.publicUrl + callbackPath;
  if (client === undefined)
    throw new InvalidInput(
      `app '${app.slug}' has no OAuth client: register one at the service with the redirect address ${redirectUri}, then POST /v1/oauth_clients with {"app": "${app.slug}", "client_id": "…", "client_secret": "…"}`,
      { code: "oauth_client_missing", details: { app: app.slug, redirect_uri: redirectUri } },
    );
  const scopes = wanted.scopes ?? client.spec.scopes ?? oauth.scopes ?? [];
  const [state, verifier] = [randomText(ports), randomText(ports)];
  const id = newId("connection", ports.randomBytes);
  const createdAt = ports.clock.now();
  const expiresAt = createdAt + connectionMs;
  await ports.connections.start({
    id,
    owner,
    user: call.user.id,
    session: call.sessionId ?? null,
    request: { app: app.slug, appName: app.name, client: publicIdOf(client), scopes, name: wanted.name, account: wanted.account },
    verifier,
    stateHash: hashOf(state),
    createdAt,
    expiresAt,
  });
  const codeChallenge = Buffer.from(hash("sha256", verifier, "buffer")).toString("base64url");
  const { authorizationUrl: address } = oauth;
  const url = authorizationUrl(
    { ...oauth, authorizationUrl: address },
    { clientId: client.spec.clientId, redirectUri, scopes, state, codeChallenge },
  );
  return { connection_id: id, url, expires_at: new Date(expiresAt).toISOString() };
}

/** 256 random bits, base64url: of the length that RFC 7636 takes for verifiers. */
const randomText = ({ randomBytes }: Pick<ApiContext["ports"], "randomBytes">): string =>
  Buffer.from(randomBytes(32)).toString("base64url");
