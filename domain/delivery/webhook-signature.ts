import { InvalidInput } from "../errors.ts";

/** HMAC-SHA256 of the text's UTF-8 bytes. */
export type Hmac = (key: Uint8Array, text: string, encoding: "hex" | "base64") => string;

/** The two HMAC keys that follow from one signing key, `whsec_<base64>`. */
export interface SigningKey {
  /** The UTF-8 bytes of the whole signing key, which receivers of `x-pd-signature` use. */
  readonly text: Uint8Array;
  /** The decoded part after `whsec_`: the key of Standard Webhooks. */
  readonly bytes: Uint8Array;
}

/** @throws InvalidInput that does not repeat the key. */
export function parseSigningKey(signingKey: string): SigningKey {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(signingKey)?.[1];
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  // Standard Webhooks asks for 24 to 64 bytes.
  if (bytes === undefined || bytes.length < 24 || bytes.length > 64)
    throw new InvalidInput("the signing key is invalid: it must be whsec_ and the base64 of 24 to 64 bytes");
  return { text: new TextEncoder().encode(signingKey), bytes };
}

/** @param key 24 to 64 random bytes; 32 for new ones. */
export function formatSigningKey(key: Uint8Array): string {
  return `whsec_${encodeBase64(key)}`;
}

export interface SignedMessage {
  /** The same on every attempt: receivers deduplicate by it. */
  readonly id: string;
  readonly emitter: string;
  /** Epoch ms of the attempt, which the signatures cover: receivers refuse old ones. */
  readonly at: number;
  /** The exact body. */
  readonly body: string;
}

/**
 * The headers that sign a delivery: `x-pd-*` as the known service sends them, and Standard Webhooks 1.0. `keys` are newest first. During
 * a rotation every key signs (`v1=…` fields of one header, space-separated entries of the other), so that a receiver with any of them
 * can verify.
 */
export function signatureHeaders(message: SignedMessage, keys: readonly SigningKey[], hmac: Hmac): Readonly<Record<string, string>> {
  const seconds = Math.floor(message.at / 1000);
  const known = keys.map(({ text }) => `v1=${hmac(text, `${seconds}.${message.body}`, "hex")}`);
  const standard = keys.map(({ bytes }) => `v1,${hmac(bytes, `${message.id}.${seconds}.${message.body}`, "base64")}`);
  return {
    "x-pd-emitter-id": message.emitter,
    "x-pd-timestamp": new Date(message.at).toISOString(),
    "x-pd-signature": [`t=${seconds}`, ...known].join(","),
    "webhook-id": message.id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": standard.join(" "),
  };
}

function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // padding in the wrong place
  }
}
