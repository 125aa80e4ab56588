import { createHmac } from "node:crypto";
import { usageFailure } from "../failure.ts";

/** The HMAC keys of a signing key, as docs/webhooks.md describes them. */
export interface SigningKey {
  /** Of `x-pd-signature`. */
  readonly text: string;
  /** Of `webhook-signature`. */
  readonly bytes: Buffer;
}

/** @throws Failure that does not repeat the key */
export function signingKeyOf(text: string): SigningKey {
  const trimmed = text.trim();
  const bytes = Buffer.from(/^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(trimmed)?.[1] ?? "", "base64");
  if (bytes.length < 24 || bytes.length > 64)
    throw usageFailure(
      "--signing-key is invalid: it must be whsec_ and the base64 of 24 to 64 bytes",
      "creating or rotating a webhook shows it",
    );
  return { text: trimmed, bytes };
}

export interface Message {
  readonly id: string;
  readonly emitter: string;
  readonly atMs: number;
  readonly body: string;
}

/** The headers of a delivery; without a key, without signatures. */
export function deliveryHeaders({ id, emitter, atMs, body }: Message, key: SigningKey | undefined): Readonly<Record<string, string>> {
  const seconds = Math.floor(atMs / 1_000);
  const own = { "content-type": "application/json", "x-pd-emitter-id": emitter, "x-pd-timestamp": new Date(atMs).toISOString() };
  const standard = { "webhook-id": id, "webhook-timestamp": String(seconds) };
  if (key === undefined) return { ...own, ...standard };
  return {
    ...own,
    "x-pd-signature": `t=${seconds},v1=${createHmac("sha256", key.text).update(`${seconds}.${body}`).digest("hex")}`,
    ...standard,
    "webhook-signature": `v1,${createHmac("sha256", key.bytes).update(`${id}.${seconds}.${body}`).digest("base64")}`,
  };
}
