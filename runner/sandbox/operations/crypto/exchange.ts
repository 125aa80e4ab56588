import { createECDH, diffieHellman, ECDH, getCiphers, getCurves, getDiffieHellman, getHashes } from "node:crypto";
import { bytesArgument, choiceArgument, ownedBytes, textArgument } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";
import { privateKey, publicKey } from "./keys.ts";

const maxPointBytes = 256;
const groups = ["modp1", "modp2", "modp5", "modp14", "modp15", "modp16"] as const;
const forms = ["uncompressed", "compressed", "hybrid"] as const;

/** `crypto.ecdh(curve, privateKey?, otherPublicKey?, form)` → private and public key, and the secret when another key is given. */
const ecdh: SyncOperation = (_context, [curve, secret, other, form]) => {
  const exchange = createECDH(textArgument(curve, "curve", 64));
  if (secret === null) exchange.generateKeys();
  else exchange.setPrivateKey(bytesArgument(secret, "privateKey", maxPointBytes));
  return {
    privateKey: ownedBytes(exchange.getPrivateKey()),
    publicKey: ownedBytes(exchange.getPublicKey(null, choiceArgument(form, "format", forms))),
    secret: other === null ? null : ownedBytes(exchange.computeSecret(bytesArgument(other, "otherPublicKey", maxPointBytes))),
  };
};

/** `crypto.dhGroup(name)` → prime and generator. The guest computes with them itself: Node would test the prime for seconds. */
const dhGroup: SyncOperation = (_context, [name]) => {
  const group = getDiffieHellman(choiceArgument(name, "group", groups));
  return { prime: ownedBytes(group.getPrime()), generator: ownedBytes(group.getGenerator()) };
};

const convert: SyncOperation = (_context, [key, curve, form]) => {
  const converted = ECDH.convertKey(
    bytesArgument(key, "key", maxPointBytes),
    textArgument(curve, "curve", 64),
    undefined,
    undefined,
    choiceArgument(form, "format", forms),
  );
  return ownedBytes(Buffer.from(converted));
};

export const exchangeSync: Record<string, SyncOperation> = {
  "crypto.ecdh": ecdh,
  "crypto.ecdhConvert": convert,
  "crypto.dhGroup": dhGroup,
  "crypto.diffieHellman": (_context, [own, other]) =>
    ownedBytes(diffieHellman({ privateKey: privateKey(own), publicKey: publicKey(other) })),
  "crypto.lists": () => ({ hashes: getHashes(), ciphers: getCiphers(), curves: getCurves() }),
};
