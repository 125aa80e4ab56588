import type { Operations } from "../../client/generated/operations.ts";
import { usageFailure } from "../failure.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { present, recordOf } from "../values.ts";
import type { Manifest, Spec } from "./manifest.ts";
import { codeBody, codeOf } from "./props.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { Session } from "./session.ts";

function webhookBody({ name, spec }: Manifest): { readonly url: string } {
  if (spec["basicAuth"] !== undefined || spec["signingKeys"] !== undefined) {
    throw usageFailure(`Webhook ${name} has basicAuth or signingKeys`, "the API makes signing keys itself: use kubectl for these fields");
  }
  const { url, description, ordered } = spec;
  return present({ url, name: spec["name"] ?? name, description, ordered }) as { readonly url: string }; // The API checks it.
}

export const webhookResource: ResourceKind = {
  name: "Webhook",
  listed: kindNamed("webhooks"),
  specOf: async (_session, { url, name, description, active, ordered }) =>
    present({ url, name: name ?? undefined, description: description ?? undefined, active, ordered }),
  normalize: async (_session, spec) => spec,
  create: async ({ client }, manifest) => {
    const answer = await client.call("createWebhook", { body: webhookBody(manifest) });
    if (manifest.spec["active"] === false) await client.call("updateWebhook", { path: { id: answer.data.id }, body: { active: false } });
    return answer;
  },
  update: ({ client }, id, manifest) =>
    client.call("updateWebhook", {
      path: { id },
      body: {
        ...present({ active: manifest.spec["active"] === undefined ? undefined : manifest.spec["active"] !== false }),
        ...webhookBody(manifest),
      },
    }),
};

function accountBody(session: Session, { name, spec }: Manifest): Record<string, unknown> {
  const client = spec["oauth"] === undefined ? undefined : clientOf(session, name, recordOf(spec["oauth"], `oauth of Account ${name}`));
  const references = Object.entries(recordOf(spec["credentials"] ?? {}, `credentials of Account ${name}`));
  const credentials = references.map(
    ([field, reference]) => [field, session.secret(reference, `Account ${name}: credentials.${field}`)] as const,
  );
  return present({
    app: spec["app"],
    name: spec["name"] ?? name,
    credentials: Object.fromEntries(credentials),
    client_credentials: client,
  });
}

/** @throws Failure for refresh tokens: services replace them, so a file does not have the one that counts */
function requireClientGrant(name: string, { grant }: Spec): void {
  if (grant !== "client_credentials")
    throw usageFailure(`Account ${name} has oauth with a refresh token`, "use `hw accounts create --oauth`, or kubectl");
}

/** @throws Failure */
function clientOf(session: Session, name: string, oauth: Spec): Spec {
  const { tokenUrl, clientId, clientSecret, clientAuthentication, scope } = oauth;
  requireClientGrant(name, oauth);
  if (clientSecret === undefined)
    throw usageFailure(
      `Account ${name} has no oauth.clientSecret`,
      "use `hw accounts connect` for the OAuth client of the app, or kubectl",
    );
  return present({
    token_url: tokenUrl,
    client_id: clientId,
    client_secret: session.secret(clientSecret, `Account ${name}: oauth.clientSecret`),
    client_authentication: clientAuthentication,
    scope,
  });
}

export const accountResource: ResourceKind = {
  name: "Account",
  listed: kindNamed("accounts"),
  specOf: async (_session, { app, name }) => ({ app: app === null || app === undefined ? null : recordOf(app, "app")["name_slug"], name }),
  normalize: async (_session, { app, name, credentials, oauth }) => {
    if (oauth !== undefined) requireClientGrant(String(name), recordOf(oauth, "oauth"));
    const { clientSecret } = (oauth ?? {}) as Spec;
    const secrets = clientSecret === undefined ? credentials : { ...(credentials as Spec), "oauth.clientSecret": clientSecret };
    return present({ app, name, secrets });
  },
  create: async (session, manifest) =>
    session.client.call("createAccount", { body: accountBody(session, manifest) as Operations["createAccount"]["body"] }), // The API checks it.
  update: (session, id, manifest) => {
    const { app: _app, ...body } = accountBody(session, manifest);
    return session.client.call("updateAccount", { path: { id }, body });
  },
};

/** A component is found by its code, since another code makes another one. */
export const componentResource: ResourceKind = {
  name: "Component",
  listed: kindNamed("components"),
  nameOf: ({ id }) => String(id).replace("_", "-"),
  specOf: async (session, { id, key }) => present({ ...(await codeOf(session, id)), key: key ?? undefined }),
  normalize: async (_session, { code }) => ({ code }),
  create: async (session, manifest) =>
    session.client.call("saveComponent", { body: await codeBody(session, manifest.spec, `Component ${manifest.name}`) }),
  finds: async (_session, items, { spec }) => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(String(spec["code"])));
    const hash = Buffer.from(digest).toString("hex");
    return items.find((item) => item["code_hash"] === hash);
  },
};

async function referenced(session: Session, id: unknown, reference: unknown): Promise<string> {
  if (reference === undefined) return String(id);
  const { kind, name } = recordOf(reference, "the reference");
  return session.idOf(String(kind), String(name));
}

async function endsOf(
  session: Session,
  { emitter, emitterRef, listener, listenerRef, channel = "" }: Spec,
): Promise<Record<"emitter" | "listener" | "channel", string>> {
  return {
    emitter: await referenced(session, emitter, emitterRef),
    listener: await referenced(session, listener, listenerRef),
    channel: String(channel),
  };
}

export const subscriptionResource: ResourceKind = {
  name: "Subscription",
  listed: kindNamed("subscriptions"),
  specOf: async (_session, { emitter_id: emitter, listener_id: listener, event_name: channel }) =>
    present({ emitter, listener, channel: channel === "" ? undefined : channel }),
  normalize: async (session, spec) => {
    const { emitter, listener, channel } = await endsOf(session, spec);
    return present({ emitter, listener, channel: channel === "" ? undefined : channel });
  },
  create: async (session, { spec }) => {
    const { emitter, listener, channel } = await endsOf(session, spec);
    return session.client.call("subscribe", { body: { emitter_id: emitter, listener_id: listener, event_name: channel } });
  },
  finds: async (session, items, { spec }) => {
    const { emitter, listener, channel } = await endsOf(session, spec);
    return items.find((item) => item["emitter_id"] === emitter && item["listener_id"] === listener && item["event_name"] === channel);
  },
};

const autoChannel = (channel: unknown): "$errors" | "$logs" => (channel === "$logs" ? "$logs" : "$errors");

export const autoSubscriptionResource: ResourceKind = {
  name: "AutoSubscription",
  listed: kindNamed("auto-subscriptions"),
  specOf: async (_session, { listener_id: listener, event_name: channel }) => ({ channel, listener }),
  normalize: async (session, { channel, listener, listenerRef }) => ({
    channel,
    listener: await referenced(session, listener, listenerRef),
  }),
  create: async (session, { spec }) => {
    const listener = await referenced(session, spec["listener"], spec["listenerRef"]);
    return session.client.call("subscribeToAll", { body: { event_name: autoChannel(spec["channel"]), listener_id: listener } });
  },
  finds: async (session, items, { spec }) => {
    const listener = await referenced(session, spec["listener"], spec["listenerRef"]);
    return items.find((item) => item["listener_id"] === listener && item["event_name"] === spec["channel"]);
  },
};
