import { afterAll, beforeAll, expect } from "vitest";
import { AppLibrary } from "../../../crds/app-library.ts";
import type { SecretReference } from "../../../crds/secret-reference.ts";
import { systemClock } from "../../../domain/clock.ts";
import { NotFound } from "../../../domain/errors.ts";
import { ownerOfNamespace } from "../../../domain/ids.ts";
import { exchangeCode, revokeAccount } from "../../../operator/account/connect.ts";
import { accountKind, type AccountResource } from "../../../crds/account.ts";
import { accountReconciler } from "../../../operator/account/reconciler.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createOauthService } from "../../../platform/http/oauth-service.ts";
import { createTokenRefresher } from "../../../platform/http/token-refresher.ts";
import { OauthProvider, type Quirks } from "../../support/oauth-provider.ts";
import { keys, publicUrl, withApi, type Answer } from "./support.ts";

export const redirectUri = `${publicUrl}/oauth/callback`;

/** The API with a connector that does what the operator does, and a service to sign in at. */
export function withConnecting(allow: readonly string[] = ["127.0.0.0/8"]) {
  const provider = new OauthProvider();
  const clock = { now: () => systemClock.now() + skew.ms };
  const skew = { ms: 0 };
  const requests = { egress: createEgress({ allow }), timeoutMs: 2_000 };
  const secretValues = {
    settle: async () => undefined,
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
    oauthService: createOauthService(requests),
    clock,
  });
  /** A pass of the operator over an account, with its clock so far ahead. */
  const operate = async (id: string, ms = 0): Promise<AccountResource> => {
    const { namespace, name } = (await found(id)).metadata;
    const secrets = { seal: async (text: string) => btoa(text), open: async (sealed: string) => atob(sealed) };
    const pass: Partial<OperatorPorts> = {
      ...ports(),
      secrets: secrets as unknown as OperatorPorts["secrets"], // The methods that accounts use.
      tokenRefresher: createTokenRefresher(requests),
      owners: { ownerOf: async (of: string) => ownerOfNamespace(of) } as unknown as OperatorPorts["owners"], // As above.
      claimId: () => true,
      random: () => 0,
      reconnectMails: { request: async () => undefined },
      clock: { now: () => clock.now() + ms },
    };
    await accountReconciler(pass as OperatorPorts)(`${namespace}/${name}`); // All that the reconciler uses.
    return found(id);
  };
  const found = async (id: string): Promise<AccountResource> => {
    const account = await api.store.findById(accountKind, id);
    if (account === undefined) throw new NotFound(`there is no account ${id}`);
    return account;
  };
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
        client_authentication: quirks.clientAuthentication === "body" ? "body" : "basic",
        pkce: quirks.requiresPkce ?? true,
        ...(quirks.issuer === undefined ? {} : { issuer: quirks.issuer }),
        ...oauth,
      },
    };
    expect((await ask("POST", "/v1/apps", app, key)).status).toBe(200);
    const client = { app: slug, client_id: provider.client.clientId, client_secret: provider.client.clientSecret };
    expect((await ask("POST", "/v1/oauth_clients", client, key)).status).toBe(200);
    return slug;
  };
  const start = async (slug: string, body: object = {}, key: string = keys.ada) => {
    const { status, body: answer } = await ask("POST", `/v1/apps/${slug}/connect`, body, key);
    expect(status, JSON.stringify(answer)).toBe(200);
    return answer.data as { connection_id: string; url: string; expires_at: string };
  };
  const outcome = async (id: string, key: string = keys.ada) => (await ask("GET", `/v1/connections/${id}`, undefined, key)).body.data;
  return { api, provider, skew, ask, addApp, start, outcome, operate, textOf, ...browserOf(api) };
}

/** A text that the double of stored secrets keeps. */
const textOf = (reference: SecretReference | undefined): string =>
  Buffer.from(reference?.sealed?.slice(7, -1) ?? "", "base64url").toString();

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
