import type { AsyncOperation, SyncOperation } from "./context.ts";
import { certificateSync } from "./crypto-certificates.ts";
import { cipherSync } from "./crypto-ciphers.ts";
import { derivationAsync, derivationSync } from "./crypto-derivation.ts";
import { exchangeSync } from "./crypto-exchange.ts";
import { keySync } from "./crypto-keys.ts";
import { pairAsync, pairSync } from "./crypto-pairs.ts";
import { signatureSync } from "./crypto-signatures.ts";

/** Host side of `node:crypto`: stateless but for ciphers in progress, every argument parsed and capped. */
export const cryptoSync: Record<string, SyncOperation> = {
  ...signatureSync,
  ...cipherSync,
  ...keySync,
  ...derivationSync,
  ...pairSync,
  ...exchangeSync,
  ...certificateSync,
};

/** The heavy ones, on Node's thread pool. */
export const cryptoAsync: Record<string, AsyncOperation> = { ...derivationAsync, ...pairAsync };
