import { createHash } from "node:crypto";
import type { Resource } from "../../crds/resource.ts";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { WebhookSpec, WebhookStatus } from "../../crds/webhook.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { parseSigningKey } from "../../domain/webhook-signature.ts";
import type { OperatorPorts } from "../ports.ts";
import type { WebhookProblem } from "./problem.ts";

export type WebhookResource = Resource<WebhookSpec, WebhookStatus>;

/** The signing keys of a webhook as routes carry them, newest first, or why there are none. */
export type SealedKeys = { readonly keys: readonly string[] } | { readonly problem: WebhookProblem };

interface Read {
  /** Where they were read: other references are other keys. */
  readonly from: string;
  /** Tells these keys from others without being them. */
  readonly digest: string;
  readonly sealed: SealedKeys;
}

/** Those that sign: the second one of a rotation has its time. */
export function keyReferencesOf({ spec, status }: WebhookResource, now: number): readonly SecretReference[] {
  const { signingKeys, previousKeyUntil } = spec;
  if (signingKeys.length === 0) return status.signingKey === undefined ? [] : [status.signingKey];
  return previousKeyUntil === undefined || Date.parse(previousKeyUntil) > now ? signingKeys : signingKeys.slice(0, 1);
}

/** ms until fewer keys sign; undefined when that comes by no time. */
export function previousKeyEndsInMs({ spec }: WebhookResource, now: number): number | undefined {
  const { signingKeys, previousKeyUntil = "" } = spec;
  const until = Date.parse(previousKeyUntil);
  return signingKeys.length > 1 && until > now ? until - now : undefined;
}

/**
 * Reads the signing keys of webhooks where they lie and seals them once for all routes, so that who delivers needs no access to
 * them. What is in a Secret may be changed there: `read` again tells everybody who asked that it was.
 */
export class SigningKeys {
  readonly #ports: Pick<OperatorPorts, "secretValues" | "secrets" | "clock">;
  /** By the webhook's uid. */
  readonly #read = new Map<string, Read>();
  /** Digests of the keys that everybody was told of, by the webhook's uid. */
  readonly #told = new Map<string, string>();
  readonly #changed: ((webhook: WebhookResource) => void)[] = [];

  constructor(ports: Pick<OperatorPorts, "secretValues" | "secrets" | "clock">) {
    this.#ports = ports;
  }

  /** Told of each webhook whose keys are others than when they were last read. */
  onChange(changed: (webhook: WebhookResource) => void): void {
    this.#changed.push(changed);
  }

  /** As last read for these references. */
  async of(webhook: WebhookResource): Promise<SealedKeys> {
    const references = this.#referencesOf(webhook);
    const texts = references.map(({ sealed }) => sealed).filter((sealed) => sealed !== undefined);
    if (texts.length > 0 && texts.length === references.length) return { keys: texts }; // Sealed by the same keys already.
    return (this.#before(webhook) ?? (await this.#readNow(webhook))).sealed;
  }

  /** Reads them where they lie. */
  async read(webhook: WebhookResource): Promise<SealedKeys> {
    const told = this.#told.get(webhook.metadata.uid) ?? this.#read.get(webhook.metadata.uid)?.digest;
    const now = await this.#readNow(webhook);
    this.#told.set(webhook.metadata.uid, now.digest);
    if (told !== undefined && told !== now.digest) for (const changed of this.#changed) changed(webhook);
    return now.sealed;
  }

  /** Of a webhook that is gone. */
  forget({ metadata }: WebhookResource): void {
    this.#read.delete(metadata.uid);
    this.#told.delete(metadata.uid);
  }

  #before(webhook: WebhookResource): Read | undefined {
    const read = this.#read.get(webhook.metadata.uid);
    return read?.from === this.#referencesTextOf(webhook) ? read : undefined;
  }

  #referencesOf(webhook: WebhookResource): readonly SecretReference[] {
    return keyReferencesOf(webhook, this.#ports.clock.now());
  }

  #referencesTextOf(webhook: WebhookResource): string {
    return JSON.stringify(this.#referencesOf(webhook));
  }

  async #readNow(webhook: WebhookResource): Promise<Read> {
    const before = this.#before(webhook);
    const from = this.#referencesTextOf(webhook);
    const texts = await this.#texts(webhook);
    const digest = createHash("sha256").update(JSON.stringify(texts)).digest("hex");
    if (before?.digest === digest) return before;
    const sealed = "problem" in texts ? texts : { keys: await Promise.all(texts.keys.map((text) => this.#ports.secrets.seal(text))) };
    const read = { from, digest, sealed };
    this.#read.set(webhook.metadata.uid, read);
    return read;
  }

  async #texts(webhook: WebhookResource): Promise<SealedKeys> {
    const references = this.#referencesOf(webhook);
    if (references.length === 0)
      return { problem: { reason: "SigningKeyChanging", passing: true, message: "its signing key is being made" } };
    try {
      const { namespace } = webhook.metadata;
      const keys = await Promise.all(references.map((reference) => this.#ports.secretValues.read(namespace, reference)));
      for (const key of keys) parseSigningKey(key.trim());
      return { keys: keys.map((key) => key.trim()) };
    } catch (error) {
      if (error instanceof NotFound) return { problem: { reason: "SigningKeyNotFound", passing: true, message: error.message } };
      if (error instanceof InvalidInput) return { problem: { reason: "SigningKeyInvalid", passing: false, message: error.message } };
      throw error;
    }
  }
}
