import koffi, { type KoffiFunc } from "koffi";
import { type Architecture, architectures } from "./system-call-numbers.ts";

/** Calls of the kernel that Node does not offer. */
let systemCall: KoffiFunc<(number: number, ...args: unknown[]) => number | bigint> | undefined;

/** Numbers of system calls by architecture, as in system-call-numbers.ts. */
const numbers = {
  capset: { x64: 126, arm64: 91 },
  close_range: { x64: 436, arm64: 436 },
  execve: { x64: 59, arm64: 221 },
  fcntl: { x64: 72, arm64: 25 },
  landlock_add_rule: { x64: 445, arm64: 445 },
  landlock_create_ruleset: { x64: 444, arm64: 444 },
  landlock_restrict_self: { x64: 446, arm64: 446 },
  prctl: { x64: 157, arm64: 167 },
  prlimit64: { x64: 302, arm64: 261 },
  seccomp: { x64: 317, arm64: 277 },
  setsid: { x64: 112, arm64: 157 },
} as const satisfies Record<string, Record<Architecture, number>>;

export type Argument = number | bigint | Buffer | null;

/** @throws Error for a system whose calls are not known */
export function findArchitecture(): Architecture {
  const architecture = architectures.find((each) => each === process.arch);
  if (process.platform !== "linux" || architecture === undefined)
    throw new Error(`the jail does not know the system calls of ${process.platform} on ${process.arch}`);
  return architecture;
}

/** @throws Error with the name of the call and the error number of the kernel */
export function call(name: keyof typeof numbers, ...args: readonly Argument[]): number {
  const result = tryCall(name, ...args);
  if (result < 0) throw new Error(`${name} failed with error ${koffi.errno()}`);
  return result;
}

/** @returns a negative number if it fails */
export function tryCall(name: keyof typeof numbers, ...args: readonly Argument[]): number {
  const typed = args.flatMap((arg) => [arg === null || Buffer.isBuffer(arg) ? "void *" : "ulong", arg]);
  systemCall ??= koffi.load(null).func("long syscall(long number, ...)"); // Of the C library of this process.
  return Number(systemCall(numbers[name][findArchitecture()], ...typed));
}

export function words(...values: readonly bigint[]): Buffer {
  const buffer = memory(values.length * 8);
  values.forEach((value, index) => buffer.writeBigUInt64LE(value, index * 8));
  return buffer;
}

/** Memory that keeps its address: V8 moves small buffers. */
export function memory(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes));
}

export function addressOf(buffer: Buffer): bigint {
  return BigInt(koffi.address(buffer));
}

const PR_SET_DUMPABLE = 4;

/** From now on only root may read the memory of this process, or trace it. `execve` undoes it, so each program does it for itself. */
export function hideMemory(): void {
  if (process.platform === "linux") tryCall("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0);
}
