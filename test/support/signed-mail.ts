import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** A key of DKIM (RFC 6376), and its record. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly record: string;
}

export function signingKey(bits = 2048): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  return { privateKey, record: `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}` };
}

export interface Signing {
  readonly key: SigningKey;
  readonly domain: string;
  readonly selector?: string;
  /** Bytes of the body that the signature covers. */
  readonly bytes?: number;
}

/** Adds a signature of `From`, `Subject` and the body, which ends with one line break, in the canonicalization `simple`. */
export function signed(raw: string, { key, domain, selector = "s1", bytes }: Signing): string {
  const at = raw.indexOf("\r\n\r\n") + 4;
  const fields = ["From", "Subject"].map((name) => new RegExp(`^${name}:.*\r\n`, "m").exec(raw)?.[0] ?? "");
  const hash = createHash("sha256")
    .update(Buffer.from(raw.slice(at)).subarray(0, bytes))
    .digest("base64");
  const length = bytes === undefined ? "" : ` l=${bytes};`;
  const field = `DKIM-Signature: v=1; a=rsa-sha256; c=simple/simple; d=${domain}; s=${selector};${length} h=from:subject; bh=${hash}; b=`;
  const signature = sign("sha256", Buffer.from(`${fields.join("")}${field}`), key.privateKey).toString("base64");
  return `${field}${signature}\r\n${raw}`;
}
