import type { AsyncOperation, SyncOperation } from "./context.ts";
import { certificateSync } from "./crypto-certificates.ts";
import { cipherSync } from "./crypto-ciphers.ts";
import { derivationAsync, derivationSync, derivationWaited } from "./crypto-derivation.ts";
import { digestSync } from "./crypto-digests.ts";
import { exchangeSync } from "./crypto-exchange.ts";
import { keySync } from "./crypto-keys.ts";
import { pairAsync } from "./crypto-pairs.ts";
import { rsaSync } from "./crypto-rsa.ts";

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
