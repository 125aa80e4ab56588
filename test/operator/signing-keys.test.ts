import type { WebhookResource } from "../../crds/webhook.ts";
import { describe, expect, it } from "vitest";
import { NotFound } from "../../domain/errors.ts";
import { formatSigningKey } from "../../domain/delivery/webhook-signature.ts";
import { previousKeyEndsInMs, SigningKeys } from "../../operator/webhook/signing-keys.ts";
import { metadata } from "./metadata.ts";

const overlapEnds = Date.parse("2026-11-23T12:00:00Z");
const keyOf = (byte: number): string => formatSigningKey(Buffer.alloc(32, byte));

function webhook(secret: string, previous?: string): WebhookResource {
  return {
    apiVersion: "headwater.dev/v1alpha1",
    kind: "Webhook",
    metadata: { ...metadata, name: "hook" },
    spec: {
      url: "https://shop.test/hook",
      active: true,
      signingKeys: [secret, ...(previous === undefined ? [] : [previous])].map((name) => ({ secretKeyRef: { name, key: "key" } })),
      ...(previous === undefined ? {} : { previousKeyUntil: new Date(overlapEnds).toISOString() }),
    },
    status: { id: "wh_1" },
  };
}

function world() {
  const secrets = new Map([
    ["one", keyOf(1)],
    ["two", keyOf(2)],
  ]);
  const notified: string[] = [];
  const clock = { time: overlapEnds - 1, now: () => clock.time };
  let reads = 0;
  const signingKeys = new SigningKeys({
    secretValues: {
      read: async (_namespace, { secretKeyRef }) => {
        reads++;
        const text = secrets.get(secretKeyRef?.name ?? "");
        if (text === undefined) throw new NotFound("there is no such Secret");
        return text;
      },
      keep: async () => ({}),
      adopt: async () => undefined,
      settle: async () => undefined,
    },
    clock,
    secrets: { seal: async (text) => `sealed ${text}`, open: async (text) => text, sealForPool: async () => "" },
  });
  signingKeys.onChange(({ metadata }) => void notified.push(metadata.name));
  return { signingKeys, secrets, notified, clock, reads: () => reads };
}

describe("the credentials of a webhook", () => {
  const authenticated = (secret: string): WebhookResource => {
    const hook = webhook("one");
    return { ...hook, spec: { ...hook.spec, basicAuth: { secretKeyRef: { name: secret, key: "auth" } } } };
  };

  it("are sealed next to the keys, without a trailing line break", async () => {
    const { signingKeys, secrets, notified } = world();
    secrets.set("auth", "ada:secret\n");
    expect(await signingKeys.read(authenticated("auth"))).toEqual({ keys: [`sealed ${keyOf(1)}`], basicAuth: "sealed ada:secret" });
    secrets.set("auth", "ada:other");
    expect(await signingKeys.read(authenticated("auth"))).toMatchObject({ basicAuth: "sealed ada:other" });
    expect(notified).toEqual(["hook"]);
  });

  it("are reported separately from the keys if they are missing or not user:password", async () => {
    const { signingKeys, secrets } = world();
    expect(await signingKeys.read(authenticated("none"))).toMatchObject({ problem: { reason: "BasicAuthNotFound", transient: true } });
    secrets.set("auth", "secret");
    const invalid = await signingKeys.read(authenticated("auth"));
    expect(invalid).toMatchObject({ problem: { reason: "BasicAuthInvalid", transient: false } });
    expect(JSON.stringify(invalid)).not.toContain('"secret"');
  });
});

describe("the signing keys of a webhook", () => {
  it("are read once for all routes, and again when the references change", async () => {
    const { signingKeys, reads } = world();
    expect(await signingKeys.of(webhook("one"))).toEqual({ keys: [`sealed ${keyOf(1)}`] });
    await signingKeys.of(webhook("one"));
    expect(reads()).toBe(1);
    expect(await signingKeys.of(webhook("two"))).toEqual({ keys: [`sealed ${keyOf(2)}`] });
    expect(reads()).toBe(2);
  });

  it("notify subscribers when the Secret changes, and only then", async () => {
    const { signingKeys, secrets, notified } = world();
    await signingKeys.read(webhook("one"));
    await signingKeys.read(webhook("one"));
    expect(notified).toEqual([]);
    secrets.set("one", "no key");
    expect(await signingKeys.read(webhook("one"))).toMatchObject({ problem: { reason: "SigningKeyInvalid", transient: false } });
    secrets.delete("one");
    expect(await signingKeys.read(webhook("one"))).toMatchObject({ problem: { reason: "SigningKeyNotFound", transient: true } });
    expect(notified).toEqual(["hook", "hook"]);
  });

  it("are two during a rotation and one after it, and subscribers are notified by the first read", async () => {
    const { signingKeys, notified, clock } = world();
    const rotating = webhook("two", "one");
    expect(await signingKeys.read(rotating)).toEqual({ keys: [`sealed ${keyOf(2)}`, `sealed ${keyOf(1)}`] });
    expect(previousKeyEndsInMs(rotating, clock.time)).toBe(1);
    clock.time = overlapEnds;
    expect(await signingKeys.of(rotating)).toEqual({ keys: [`sealed ${keyOf(2)}`] });
    expect(notified).toEqual([]);
    expect(await signingKeys.read(rotating)).toEqual({ keys: [`sealed ${keyOf(2)}`] });
    expect(notified).toEqual(["hook"]);
    expect(previousKeyEndsInMs(rotating, clock.time)).toBeUndefined();
  });

  it("are dropped from the cache with the webhook", async () => {
    const { signingKeys, secrets } = world();
    await signingKeys.of(webhook("one"));
    signingKeys.forget(webhook("one"));
    secrets.set("one", keyOf(3));
    expect(await signingKeys.of(webhook("one"))).toEqual({ keys: [`sealed ${keyOf(3)}`] });
  });
});
