import { hkdfSync, pbkdf2, scrypt, type ScryptOptions } from "node:crypto";
import { promisify } from "node:util";
import { bytesArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "../arguments.ts";
import type { AsyncOperation, SyncOperation } from "../context.ts";
import { withThread } from "../slots.ts";

/** Work and memory one derivation may cost. The synchronous forms must end within the time that an entry into the isolate has. */
interface Caps {
  /** PBKDF2: iterations times blocks of 20 bytes. */
  readonly rounds: number;
  /** scrypt: N·r·p. */
  readonly mixes: number;
}
const waitedCaps: Caps = { rounds: 2_000_000, mixes: 1_048_576 };
const asyncCaps: Caps = { rounds: 20_000_000, mixes: 4_194_304 };
const maxMemory = 128 * 1024 * 1024;
const maxInput = 1024 * 1024;
const maxKeyBytes = 16 * 1024;
const concurrent = 2;

type Pbkdf2 = [password: Uint8Array, salt: Uint8Array, iterations: number, length: number, digest: string];

function pbkdf2Arguments(args: readonly unknown[], caps: Caps): Pbkdf2 {
  const [password, salt, iterations, length, digest] = args;
  const rounds = integerArgument(iterations, "iterations", 1, 2 ** 31 - 1);
  const bytes = integerArgument(length, "keylen", 0, maxKeyBytes);
  if (rounds * Math.ceil(bytes / 20) > caps.rounds) throw tooMuch(`pbkdf2 with ${rounds} iterations for ${bytes} bytes`, caps);
  return [
    bytesArgument(password, "password", maxInput),
    bytesArgument(salt, "salt", maxInput),
    rounds,
    bytes,
    textArgument(digest, "digest", 64),
  ];
}

type Scrypt = [password: Uint8Array, salt: Uint8Array, length: number, options: ScryptOptions];

function scryptArguments(args: readonly unknown[], caps: Caps): Scrypt {
  const [password, salt, length, given] = args;
  const options = recordArgument(given, "options");
  const cost = integerArgument(options["N"] ?? options["cost"] ?? 16_384, "N", 2, 2 ** 24);
  const blockSize = integerArgument(options["r"] ?? options["blockSize"] ?? 8, "r", 1, 1024);
  const parallelization = integerArgument(options["p"] ?? options["parallelization"] ?? 1, "p", 1, 1024);
  const maxmem = integerArgument(options["maxmem"] ?? 32 * 1024 * 1024, "maxmem", 0, Number.MAX_SAFE_INTEGER);
  if (cost * blockSize * parallelization > caps.mixes || 128 * cost * blockSize > maxMemory)
    throw tooMuch(`scrypt with N=${cost}, r=${blockSize}, p=${parallelization}`, caps);
  const bytes = integerArgument(length, "keylen", 0, maxKeyBytes);
  return [
    bytesArgument(password, "password", maxInput),
    bytesArgument(salt, "salt", maxInput),
    bytes,
    { N: cost, r: blockSize, p: parallelization, maxmem: Math.min(maxmem, maxMemory * 2) },
  ];
}

function tooMuch(what: string, caps: Caps): Error {
  const advice = caps === waitedCaps ? "use the asynchronous function or smaller parameters" : "use smaller parameters";
  return Object.assign(new RangeError(`${what} is more work than a component may do at once: ${advice}`), {
    code: "limit_exceeded",
  });
}

export const derivationSync: Record<string, SyncOperation> = {
  "crypto.hkdf": (_context, [digest, key, salt, info, length]) =>
    new Uint8Array(
      hkdfSync(
        textArgument(digest, "digest", 64),
        bytesArgument(key, "ikm", maxInput),
        bytesArgument(salt, "salt", maxInput),
        bytesArgument(info, "info", 1024),
        integerArgument(length, "length", 0, maxKeyBytes),
      ),
    ),
};

const scryptAsync = promisify<Uint8Array, Uint8Array, number, ScryptOptions, Buffer>(scrypt);
const pbkdf2Async = promisify(pbkdf2);

/** Node's thread pool is shared by all isolates of the process: two at a time for each. */
const derivations = (caps: Caps): Record<string, AsyncOperation> => ({
  "crypto.pbkdf2": (context, args) =>
    withThread(context, "crypto", concurrent, async () => ownedBytes(await pbkdf2Async(...pbkdf2Arguments(args, caps)))),
  "crypto.scrypt": (context, args) =>
    withThread(context, "crypto", concurrent, async () => ownedBytes(await scryptAsync(...scryptArguments(args, caps)))),
});

export const derivationAsync: Record<string, AsyncOperation> = derivations(asyncCaps);
export const derivationWaited: Record<string, AsyncOperation> = derivations(waitedCaps);
