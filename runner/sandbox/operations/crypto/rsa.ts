import { constants, privateDecrypt, privateEncrypt, publicDecrypt, publicEncrypt } from "node:crypto";
import { bytesArgument, choiceArgument, ownedBytes } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";
import { keyOptions, privateKey, publicKey } from "./keys.ts";

/** `crypto.rsa(operation, key, data)` → bytes. */
const rsa: SyncOperation = (_context, [name, key, data]) => {
  const operation = choiceArgument(name, "operation", ["publicEncrypt", "publicDecrypt", "privateEncrypt", "privateDecrypt"]);
  const bytes = bytesArgument(data, "buffer", 4096);
  const options = keyOptions(key);
  if (operation === "publicEncrypt") return ownedBytes(publicEncrypt({ ...options, key: publicKey(key) }, bytes));
  if (operation === "publicDecrypt") return ownedBytes(publicDecrypt({ ...options, key: publicKey(key) }, bytes));
  if (operation === "privateEncrypt") return ownedBytes(privateEncrypt({ ...options, key: privateKey(key) }, bytes));
  return ownedBytes(privateDecrypt({ padding: constants.RSA_PKCS1_OAEP_PADDING, ...options, key: privateKey(key) }, bytes));
};

export const rsaSync: Record<string, SyncOperation> = { "crypto.rsa": rsa };
