import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { choiceArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "../arguments.ts";
import type { AsyncOperation } from "../context.ts";
import { withThread } from "../slots.ts";

const types = ["rsa", "rsa-pss", "ec", "ed25519", "ed448", "x25519", "x448"] as const;
type Type = (typeof types)[number];
/** An RSA key of this size takes up to five seconds. */
const maxBits = 4096;

interface Request {
  readonly type: Type;
  readonly options: Record<string, unknown>;
}
interface Encoded {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

function request(args: readonly unknown[]): Request {
  const type = choiceArgument(args[0], "type", types);
  const given = recordArgument(args[1], "options");
  const options: Record<string, unknown> = {
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "der" },
  };
  if (type === "rsa" || type === "rsa-pss") {
    options["modulusLength"] = integerArgument(given["modulusLength"], "modulusLength", 512, maxBits);
    options["publicExponent"] = given["publicExponent"] === undefined ? 0x10001 : choiceExponent(given["publicExponent"]);
    for (const name of ["hashAlgorithm", "mgf1HashAlgorithm"])
      if (given[name] !== undefined) options[name] = textArgument(given[name], name, 64);
    if (given["saltLength"] !== undefined) options["saltLength"] = integerArgument(given["saltLength"], "saltLength", 0, 1024);
  }
  if (type === "ec") options["namedCurve"] = textArgument(given["namedCurve"], "namedCurve", 64);
  return { type, options };
}

function choiceExponent(value: unknown): number {
  const exponent = integerArgument(value, "publicExponent", 3, 0x10001);
  if (exponent !== 3 && exponent !== 0x10001)
    throw Object.assign(new RangeError("publicExponent must be 3 or 65537"), { code: "ERR_OUT_OF_RANGE" });
  return exponent;
}

const encoded = ({ publicKey, privateKey }: Encoded): Encoded => ({
  publicKey: ownedBytes(publicKey),
  privateKey: ownedBytes(privateKey),
});

// Node's overloads list every type with its options; `request` has checked them.
const generate = promisify(generateKeyPair) as unknown as (type: Type, options: Record<string, unknown>) => Promise<Encoded>;

/** `crypto.generateKeyPair(type, options)` → public key as SPKI, private key as PKCS #8, both DER. */
export const pairAsync: Record<string, AsyncOperation> = {
  "crypto.generateKeyPair": (context, args) =>
    withThread(context, "crypto", 2, async () => {
      const { type, options } = request(args);
      return encoded(await generate(type, options));
    }),
};
