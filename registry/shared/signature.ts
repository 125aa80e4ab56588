import { createHmac, timingSafeEqual, createHash } from "node:crypto";

/** Compares in a time that reveals neither where two strings differ nor the length of the expected one. */
export function isEqual(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

export interface SignatureForm {
  readonly algorithm: string;
  readonly encoding: "hex" | "base64";
}

export function sign(secret: string, bytes: Buffer, { algorithm, encoding }: SignatureForm): string {
  return createHmac(algorithm, secret).update(bytes).digest(encoding);
}

/** The bytes of a request's body as they were sent: a signature is of these, not of what they were parsed to. */
export function bodyBytes({ bodyRaw, bodyBase64 }: { readonly bodyRaw?: string; readonly bodyBase64?: string }): Buffer {
  return bodyBase64 === undefined ? Buffer.from(bodyRaw ?? "") : Buffer.from(bodyBase64, "base64");
}
