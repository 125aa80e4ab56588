import { sync, type Sendable } from "../../runtime/bridge.ts";
import { concatBytes } from "../buffer/bytes.ts";
import { nodeError } from "../errors.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Spec = Readonly<Record<string, Sendable>>;

// Data per host call is bounded, so that no call delays other isolates for long. More data takes several calls.

const digestBytes = 1024 * 1024;

/** A hash, HMAC, signature (bytes) or verification (boolean) of all data, by the host's `crypto.digest`. */
export function digest(spec: Spec, data: Uint8Array): unknown {
  let id = 0;
  for (let at = 0; ; at += digestBytes) {
    const isLast = at + digestBytes >= data.length;
    const answer = sync("crypto.digest", id, id === 0 ? spec : null, data.subarray(at, at + digestBytes), isLast);
    const { id: open, result } = answer as { readonly id: number; readonly result?: unknown }; // its result
    if (isLast) return result;
    id = open;
  }
}

/** Every cipher accepts at least this much data per call. */
const smallBytes = 4 * 1024;
interface Limits {
  readonly bytes: number;
  readonly isWhole: boolean;
}
const limitsByCipher = new Map<string, Limits>();

/** Sends data to a cipher in calls within its limits, and joins the results. */
export function inPieces(algorithm: string, data: Bytes, update: (piece: Bytes) => Bytes): Bytes {
  if (data.length <= smallBytes) return update(data);
  const { bytes, isWhole } = limitsOf(algorithm);
  if (data.length <= bytes) return update(data);
  if (isWhole) throw nodeError("limit_exceeded", `${algorithm} takes at most ${bytes} bytes, since it takes all data at once`, RangeError);
  const results: Bytes[] = [];
  for (let at = 0; at < data.length; at += bytes) results.push(update(data.subarray(at, at + bytes)));
  return concatBytes(results);
}

function limitsOf(algorithm: string): Limits {
  const known = limitsByCipher.get(algorithm) ?? (sync("crypto.cipherLimits", algorithm) as Limits); // its result
  limitsByCipher.set(algorithm, known);
  return known;
}
