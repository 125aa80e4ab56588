import { closeSync, openSync, statSync } from "node:fs";
import koffi from "koffi";
import type { JailRules } from "./jail.ts";
import { seccompProgram } from "./seccomp.ts";
import { type Architecture, architectures, systemCallNumbers } from "./system-call-numbers.ts";

/**
 * The program that becomes a sandbox process: `launcher.mjs RULES COMMAND ARGUMENT…`. It takes rights from itself that the kernel never
 * gives back, and then replaces itself with the command, which keeps its process id and descriptors 0 to 4.
 *
 * A compiled program would start faster. This one needs no compiler, neither in the image nor where `npm start` runs.
 */
const libc = koffi.load("libc.so.6");
const prctl = libc.func("int prctl(int option, ulong a, ulong b, ulong c, ulong d)");
const fcntl = libc.func("int fcntl(int descriptor, int command, int argument)");
const systemCall = libc.func("long syscall(long number, ...)");

const O_PATH = 0x200000;
const F_SETFD = 2;
/** Frames, and connected sockets: the child's side is in `children/protocol.ts`. */
const inheritedDescriptors = [3, 4];

const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;
const RLIMIT_FSIZE = 1;
const RLIMIT_CORE = 4;
const RLIMIT_MEMLOCK = 8;
const capabilityVersion = 0x20080522;
const SECCOMP_SET_MODE_FILTER = 1;

/** landlock(7); the same numbers on all architectures. */
const landlock = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const;
const LANDLOCK_CREATE_RULESET_VERSION = 1;
const LANDLOCK_RULE_PATH_BENEATH = 1;
const EXECUTE = 1n << 0n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
/** Rights on files by the version of Landlock that knows them, from 1. */
const fileRights = [(1n << 13n) - 1n, 1n << 13n, 1n << 14n, 0n, 1n << 15n];
const LANDLOCK_ACCESS_NET_BIND_TCP = 1n;
const LANDLOCK_ACCESS_NET_CONNECT_TCP = 2n;
const LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1n;
const LANDLOCK_SCOPE_SIGNAL = 2n;

type Argument = number | bigint | Buffer | null;

/** @throws Error with the name of what failed and the error number of the C library */
function check(what: string, result: number): number {
  if (result < 0) throw new Error(`${what} failed with error ${koffi.errno()}`);
  return result;
}

function call(what: string, number: number, ...args: readonly Argument[]): number {
  const typed = args.flatMap((arg) => [arg === null || Buffer.isBuffer(arg) ? "void *" : "ulong", arg]);
  return check(what, Number(systemCall(number, ...typed)));
}

function words(...values: readonly bigint[]): Buffer {
  const buffer = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => buffer.writeBigUInt64LE(value, index * 8));
  return buffer;
}

/** No core dumps, no files, no locked memory. */
function limitResources(architecture: Architecture): void {
  for (const resource of [RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK])
    call("prlimit64", systemCallNumbers[architecture]["prlimit64"] ?? -1, 0, resource, words(0n, 0n), null);
}

/** Root without capabilities: `no_new_privs` keeps a later `execve` from returning them. */
function dropCapabilities(architecture: Architecture): void {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(capabilityVersion, 0);
  call("capset", architecture === "x64" ? 126 : 91, header, Buffer.alloc(24));
}

/** Reading and executing what the rules name; no other access to files, no listening or connecting, no signals or abstract sockets of other processes. */
function restrictFiles({ readable, executable }: JailRules): void {
  const version = call("landlock_create_ruleset", landlock.createRuleset, null, 0, LANDLOCK_CREATE_RULESET_VERSION);
  const handled = fileRights.slice(0, version).reduce((sum, right) => sum | right, 0n);
  const attributes = words(
    handled,
    version >= 4 ? LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP : 0n,
    version >= 6 ? LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL : 0n,
  );
  const size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const ruleset = call("landlock_create_ruleset", landlock.createRuleset, attributes, size, 0);
  for (const path of readable) grantBeneath(ruleset, path, READ_FILE | READ_DIR);
  for (const path of executable) grantBeneath(ruleset, path, READ_FILE | EXECUTE);
  call("landlock_restrict_self", landlock.restrictSelf, ruleset, 0);
  closeSync(ruleset);
}

function grantBeneath(ruleset: number, path: string, rights: bigint): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const descriptor = openSync(path, O_PATH);
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(stat.isDirectory() ? rights : rights & ~READ_DIR, 0);
  rule.writeInt32LE(descriptor, 8);
  call("landlock_add_rule", landlock.addRule, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0);
  closeSync(descriptor);
}

function filterSystemCalls(architecture: Architecture): void {
  const program = seccompProgram(architecture, process.pid);
  // struct sock_fprog: a number of instructions, and a pointer to them.
  const filter = words(BigInt(program.byteLength / 8), BigInt(koffi.address(program)));
  call("seccomp", architecture === "x64" ? 317 : 277, SECCOMP_SET_MODE_FILTER, 0, filter);
}

const [, , rules = "", command = "", ...args] = process.argv;
try {
  const architecture = architectures.find((each) => each === process.arch);
  if (process.platform !== "linux" || architecture === undefined)
    throw new Error(`the jail does not know the system calls of ${process.platform} on ${process.arch}`);
  // The parent's death ends this process even if its main thread is busy and does not notice the closed channel.
  check("prctl(PR_SET_PDEATHSIG)", prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
  // Node marks them to be closed by `execve`. It fails where there is no channel.
  for (const descriptor of inheritedDescriptors) fcntl(descriptor, F_SETFD, 0);
  limitResources(architecture);
  dropCapabilities(architecture);
  check("prctl(PR_SET_NO_NEW_PRIVS)", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  restrictFiles(JSON.parse(rules) as JailRules); // Our own process wrote it.
  filterSystemCalls(architecture);
  process.execve?.(command, [command, ...args], process.env);
} catch (error) {
  process.stderr.write(`the sandbox's jail: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(125);
}
