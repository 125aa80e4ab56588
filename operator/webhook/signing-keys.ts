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

export function keyReferencesOf({ spec, status }: WebhookResource): readonly SecretReference[] {
  if (spec.signingKeys.length > 0) return spec.signingKeys;
  return status.signingKey === undefined ? [] : [status.signingKey];
}

/**
 * Reads the signing keys of webhooks where they lie and seals them once for all routes, so that who delivers needs no access to
 * them. What is in a Secret may be changed there: `read` again tells everybody who asked that it was.
 */
export class SigningKeys {
  readonly #ports: Pick<OperatorPorts, "secretValues" | "secrets">;
  /** By the webhook's uid. */
  readonly #read = new Map<string, Read>();
  readonly #changed: ((webhook: WebhookResource) => void)[] = [];

  constructor(ports: Pick<OperatorPorts, "secretValues" | "secrets">) {
    this.#ports = ports;
  }

  /** Told of each webhook whose keys are others than when they were last read. */
  onChange(changed: (webhook: WebhookResource) => void): void {
    this.#changed.push(changed);
  }

  /** As last read for these references. */
  async of(webhook: WebhookResource): Promise<SealedKeys> {
    const references = keyReferencesOf(webhook);
    const texts = references.map(({ sealed }) => sealed).filter((sealed) => sealed !== undefined);
    if (texts.length > 0 && texts.length === references.length) return { keys: texts }; // Sealed by the same keys already.
    return (this.#before(webhook) ?? (await this.#readNow(webhook))).sealed;
  }

  /** Reads them where they lie. */
  async read(webhook: WebhookResource): Promise<SealedKeys> {
    const before = this.#before(webhook);
    const now = await this.#readNow(webhook, before);
    if (before !== undefined && before.digest !== now.digest) for (const changed of this.#changed) changed(webhook);
    return now.sealed;
  }

  /** Of a webhook that is gone. */
  forget({ metadata }: WebhookResource): void {
    this.#read.delete(metadata.uid);
  }

  #before(webhook: WebhookResource): Read | undefined {
    const read = this.#read.get(webhook.metadata.uid);
    return read?.from === referencesTextOf(webhook) ? read : undefined;
  }

  async #readNow(webhook: WebhookResource, before?: Read): Promise<Read> {
    const texts = await this.#texts(webhook);
    const digest = createHash("sha256").update(JSON.stringify(texts)).digest("hex");
    if (before?.digest === digest) return before;
    const sealed = "problem" in texts ? texts : { keys: await Promise.all(texts.keys.map((text) => this.#ports.secrets.seal(text))) };
    const read = { from: referencesTextOf(webhook), digest, sealed };
    this.#read.set(webhook.metadata.uid, read);
    return read;
  }

  async #texts(webhook: WebhookResource): Promise<SealedKeys> {
    const references = keyReferencesOf(webhook);
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

const referencesTextOf = (webhook: WebhookResource): string => JSON.stringify(keyReferencesOf(webhook));
