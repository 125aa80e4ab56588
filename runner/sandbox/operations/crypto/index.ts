import type { AsyncOperation, SyncOperation } from "../context.ts";
import { certificateSync } from "./certificates.ts";
import { cipherSync } from "./ciphers.ts";
import { derivationAsync, derivationSync, derivationWaited } from "./derivation.ts";
import { digestSync } from "./digests.ts";
import { exchangeSync } from "./exchange.ts";
import { keySync } from "./keys.ts";
import { pairAsync } from "./pairs.ts";
import { rsaSync } from "./rsa.ts";

/** Host side of `node:crypto`: stateless but for ciphers and digests in progress, every argument parsed and capped. */
export const cryptoSync: Record<string, SyncOperation> = {
  ...digestSync,
  ...cipherSync,
  ...rsaSync,
  ...keySync,
  ...derivationSync,
  ...exchangeSync,
  ...certificateSync,
};

/** The heavy ones, on Node's thread pool. */
export const cryptoAsync: Record<string, AsyncOperation> = { ...derivationAsync, ...pairAsync };

/** The same where a guest's thread waits for the result: pbkdf2Sync, scryptSync, generateKeyPairSync. */
export const cryptoWaited: Record<string, AsyncOperation> = { ...derivationWaited, ...pairAsync };
