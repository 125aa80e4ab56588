import { hash } from "node:crypto";
import type { SecretReference } from "../../crds/secret-reference.ts";
import { holderOf } from "../../crds/secret-values.ts";
import { webhookKind, type SealedWebhook, type WebhookResource } from "../../crds/webhook.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { checkCredentials } from "../../domain/secrets/url-credentials.ts";
import { parseSigningKey } from "../../domain/delivery/webhook-signature.ts";
import type { OperatorPorts } from "../ports.ts";
import type { WebhookProblem } from "./problem.ts";

/** The secret values of a webhook as routes carry them, or why they are unavailable. */
export type SealedKeys = SealedWebhook | { readonly problem: WebhookProblem };

interface CachedKeys {
  /** Their references, serialized: other references mean other keys. */
  readonly references: string;
  /** Identifies the values without containing them. */
  readonly digest: string;
  readonly sealed: SealedKeys;
}

/** References of the keys that sign now: the second key of a rotation expires. */
export function keyReferencesOf({ spec, status }: WebhookResource, now: number): readonly SecretReference[] {
  const { signingKeys, previousKeyUntil } = spec;
  if (signingKeys.length === 0) return status.signingKey === undefined ? [] : [status.signingKey];
  return previousKeyUntil === undefined || Date.parse(previousKeyUntil) > now ? signingKeys : signingKeys.slice(0, 1);
}

/** Signing keys, followed by the basic auth credentials. */
export function referencesOf(webhook: WebhookResource, now: number): readonly SecretReference[] {
  const { basicAuth } = webhook.spec;
  return [...keyReferencesOf(webhook, now), ...(basicAuth === undefined ? [] : [basicAuth])];
}

/** ms until the previous key expires; undefined if it does not. */
export function previousKeyEndsInMs({ spec }: WebhookResource, now: number): number | undefined {
  const { signingKeys, previousKeyUntil = "" } = spec;
  const until = Date.parse(previousKeyUntil);
  return signingKeys.length > 1 && until > now ? until - now : undefined;
}

/**
 * Reads the signing keys of webhooks and seals them once for all routes, so that the delivery role needs no access to Secrets. A Secret can
 * be edited: `read` notifies subscribers if its keys have changed.
 */
export class SigningKeys {
  readonly #ports: Pick<OperatorPorts, "secretValues" | "secrets" | "clock">;
  /** By the webhook's uid. */
  readonly #read = new Map<string, CachedKeys>();
  /** Digests last reported to subscribers, by the webhook's uid. */
  readonly #reported = new Map<string, string>();
  readonly #listeners: ((webhook: WebhookResource) => void)[] = [];

  constructor(ports: Pick<OperatorPorts, "secretValues" | "secrets" | "clock">) {
    this.#ports = ports;
  }

  /** Called with each webhook whose keys have changed since they were last read. */
  onChange(changed: (webhook: WebhookResource) => void): void {
    this.#listeners.push(changed);
  }

  /** Cached for the current references. */
  async of(webhook: WebhookResource): Promise<SealedKeys> {
    const references = this.#referencesOf(webhook);
    const keyCount = keyReferencesOf(webhook, this.#ports.clock.now()).length;
    const texts = references.map(({ sealed }) => sealed).filter((sealed) => sealed !== undefined);
    if (keyCount > 0 && texts.length === references.length) return sealedOf(texts, keyCount); // Already sealed with the same keys.
    return (this.#before(webhook) ?? (await this.#readNow(webhook))).sealed;
  }

  /** Reads the current values. */
  async read(webhook: WebhookResource): Promise<SealedKeys> {
    const reported = this.#reported.get(webhook.metadata.uid) ?? this.#read.get(webhook.metadata.uid)?.digest;
    const now = await this.#readNow(webhook);
    this.#reported.set(webhook.metadata.uid, now.digest);
    if (reported !== undefined && reported !== now.digest) for (const changed of this.#listeners) changed(webhook);
    return now.sealed;
  }

  /** For a deleted webhook. */
  forget({ metadata }: WebhookResource): void {
    this.#read.delete(metadata.uid);
    this.#reported.delete(metadata.uid);
  }

  #before(webhook: WebhookResource): CachedKeys | undefined {
    const read = this.#read.get(webhook.metadata.uid);
    return read?.references === this.#referencesTextOf(webhook) ? read : undefined;
  }

  #referencesOf(webhook: WebhookResource): readonly SecretReference[] {
    return referencesOf(webhook, this.#ports.clock.now());
  }

  #referencesTextOf(webhook: WebhookResource): string {
    return JSON.stringify(this.#referencesOf(webhook));
  }

  async #readNow(webhook: WebhookResource): Promise<CachedKeys> {
    const before = this.#before(webhook);
    const references = this.#referencesTextOf(webhook);
    const texts = await this.#texts(webhook);
    const digest = hash("sha256", JSON.stringify(texts));
    if (before?.digest === digest) return before;
    const sealed = "problem" in texts ? texts : await this.#seal(texts);
    const read = { references, digest, sealed };
    this.#read.set(webhook.metadata.uid, read);
    return read;
  }

  async #seal({ keys, basicAuth }: SealedWebhook): Promise<SealedWebhook> {
    const texts = basicAuth === undefined ? keys : [...keys, basicAuth];
    return sealedOf(await Promise.all(texts.map((text) => this.#ports.secrets.seal(text))), keys.length);
  }

  async #texts(webhook: WebhookResource): Promise<SealedKeys> {
    const references = keyReferencesOf(webhook, this.#ports.clock.now());
    if (references.length === 0)
      return { problem: { reason: "SigningKeyChanging", transient: true, message: "its signing key is being created" } };
    const { basicAuth } = webhook.spec;
    const keys = await this.#readAll(webhook, references, parsedKey, ["SigningKeyNotFound", "SigningKeyInvalid"]);
    if ("problem" in keys || basicAuth === undefined) return keys;
    const credentials = await this.#readAll(webhook, [basicAuth], parsedCredentials, ["BasicAuthNotFound", "BasicAuthInvalid"]);
    return "problem" in credentials ? credentials : sealedOf([...keys.keys, ...credentials.keys], keys.keys.length);
  }

  async #readAll(
    webhook: WebhookResource,
    references: readonly SecretReference[],
    parse: (text: string) => string,
    [notFound, invalid]: readonly [WebhookProblem["reason"], WebhookProblem["reason"]],
  ): Promise<{ readonly keys: readonly string[] } | { readonly problem: WebhookProblem }> {
    try {
      const texts = await Promise.all(
        references.map((reference) => this.#ports.secretValues.read(holderOf(webhookKind, webhook), reference)),
      );
      return { keys: texts.map(parse) };
    } catch (error) {
      if (error instanceof NotFound) return { problem: { reason: notFound, transient: true, message: error.message } };
      if (error instanceof InvalidInput) return { problem: { reason: invalid, transient: false, message: error.message } };
      throw error;
    }
  }
}

function sealedOf(texts: readonly string[], keyCount: number): SealedWebhook {
  const basicAuth = texts[keyCount];
  return { keys: texts.slice(0, keyCount), ...(basicAuth === undefined ? {} : { basicAuth }) };
}

function parsedKey(text: string): string {
  parseSigningKey(text.trim());
  return text.trim();
}

/** Editors and `echo` end a file with a line break. */
const parsedCredentials = (text: string): string => checkCredentials(text.replace(/\r?\n$/, ""));
