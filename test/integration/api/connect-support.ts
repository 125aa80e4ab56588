import { afterAll, beforeAll, expect } from "vitest";
import { AppLibrary } from "../../../crds/app-library.ts";
import type { SecretReference } from "../../../crds/secret-reference.ts";
import { systemClock } from "../../../domain/clock.ts";
import { NotFound } from "../../../domain/errors.ts";
import { exchangeCode, revokeAccount } from "../../../operator/account/connect.ts";
import { accountKind } from "../../../crds/account.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createOauthService } from "../../../platform/http/oauth-service.ts";
import { OauthProvider, registered, type Quirks } from "../../support/oauth-provider.ts";
import { keys, publicUrl, withApi, type Answer } from "./support.ts";

export const redirectUri = `${publicUrl}/oauth/callback`;

/** The API with a connector that does what the operator does, and a service to sign in at. */
export function withConnecting(allow: readonly string[] = ["127.0.0.0/8"]) {
  const provider = new OauthProvider();
  const clock = { now: () => systemClock.now() + skew.ms };
  const skew = { ms: 0 };
  const secretValues = {
    keep: async (_holder: object, texts: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, { sealed: `sealed(${Buffer.from(text).toString("base64url")})` }]),
      ),
    read: async (_holder: object, { sealed }: SecretReference) => {
      if (sealed === undefined) throw new NotFound("no such secret");
      return Buffer.from(sealed.slice(7, -1), "base64url").toString();
    },
  };
  const ports = (): Pick<OperatorPorts, "store" | "secretValues" | "apps" | "oauthService" | "clock"> => ({
    store: api.store,
    secretValues: secretValues as unknown as OperatorPorts["secretValues"], // The methods that connecting uses.
    apps: new AppLibrary({ store: api.store, builtIn: new Map(), sharedNamespace: async () => undefined }),
    oauthService: createOauthService({ egress: createEgress({ allow }), timeoutMs: 2_000 }),
    clock,
  });
  const api = withApi(
    {},
    {
      secretValues: { keep: secretValues.keep },
      clock,
      connector: {
        exchange: (request) => exchangeCode(request, ports()),
        revoke: async ({ namespace, name }) => void (await revokeAccount(await api.store.get(accountKind, namespace, name), ports())),
      },
    },
  );
  beforeAll(async () => void (await provider.start()));
  afterAll(() => provider.stop());

  const ask = (method: string, path: string, body?: unknown, key: string = keys.ada) =>
    api.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
  let count = 0;

  /** An app with a client at the service, which behaves so. */
  const addApp = async (quirks: Quirks = {}, oauth: object = {}, key: string = keys.ada): Promise<string> => {
    provider.quirks = quirks;
    const slug = `service-${++count}`;
    const { origin } = provider;
    const app = {
      name_slug: slug,
      name: "The Service",
      auth_type: "oauth",
      oauth: {
        authorization_url: `${origin}/authorize?tenant=1`,
        token_url: `${origin}/token`,
        revocation_url: `${origin}/revoke`,
        test_url: `${origin}/me`,
        test_name: "user.name",
        test_picture: "pictures.0.url",
        scopes: ["read", "write"],
        scope_separator: quirks.scopeSeparator ?? " ",
        client_authentication: quirks.clientAuthentication ?? "basic",
        pkce: quirks.requiresPkce ?? true,
        ...(quirks.issuer === undefined ? {} : { issuer: quirks.issuer }),
        ...oauth,
      },
    };
    expect((await ask("POST", "/v1/apps", app, key)).status).toBe(200);
    const client = { app: slug, client_id: registered.clientId, client_secret: registered.clientSecret };
    expect((await ask("POST", "/v1/oauth_clients", client, key)).status).toBe(200);
    return slug;
  };
  const start = async (slug: string, body: object = {}, key: string = keys.ada) => {
    const { status, body: answer } = await ask("POST", `/v1/apps/${slug}/connect`, body, key);
    expect(status, JSON.stringify(answer)).toBe(200);
    return answer.data as { connection_id: string; url: string; expires_at: string };
  };
  const outcome = async (id: string, key: string = keys.ada) => (await ask("GET", `/v1/connections/${id}`, undefined, key)).body.data;
  return { api, provider, skew, ask, addApp, start, outcome, ...browserOf(api) };
}

/** A person who began with an API key: sees the page that names the user, and clicks. */
function browserOf(api: Pick<ReturnType<typeof withApi>, "ask">) {
  const open = (address: URL, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    api.ask("GET", address.pathname + address.search, { key: null, headers });
  /** The answer of a service with `response_mode=form_post`. */
  const post = (address: URL, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    api.ask("POST", address.pathname, {
      key: null,
      raw: address.searchParams.toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    });
  const click = async (address: URL, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const confirm = /name="confirm" value="(\w+)"/.exec((await open(address, headers)).text)?.[1];
    const confirmed = new URL(address);
    if (confirm !== undefined) confirmed.searchParams.set("confirm", confirm);
    return post(confirmed, headers);
  };
  return { open, post, click };
}
