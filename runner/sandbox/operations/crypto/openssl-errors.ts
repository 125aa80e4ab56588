import { getFips } from "node:crypto";

/**
 * Empties OpenSSL's queue of errors. Some functions of Node leave what failed there (`getCipherInfo` with a key length that does not fit),
 * and the next job of WebCrypto that succeeds finds it and ends the process: `Assertion failed: errors->Empty()`. `getFips` is the
 * cheapest function that empties the queue, 4 µs; `operations-fuzz.test.ts` fails when a newer Node changes that.
 */
export function clearOpensslErrors(): void {
  getFips();
}
