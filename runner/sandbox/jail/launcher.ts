import { chownSync, readFileSync } from "node:fs";
import { addressOf, call, findArchitecture, memory, tryCall, words } from "./kernel.ts";
import { restrictFiles } from "./landlock.ts";
import { firstUser, type JailLimits, type JailRules } from "./rules.ts";
import { type ExecveArguments, seccompProgram } from "./seccomp.ts";

/**
 * The program that becomes a jailed process: `launcher.mjs RULES ARGUMENT…`. It takes rights from itself that the kernel never gives back,
 * and then replaces itself with the command of the rules, which keeps its process id.
 *
 * RULES is JSON, or the path of a script with JSON after its first line: such a script starts this program for one that cannot be started
 * with arguments.
 *
 * A compiled program would start faster. This one needs no compiler, neither in the image nor where `npm start` runs.
 */
const F_SETFD = 2;
const CLOSE_RANGE_CLOEXEC = 4;
const maxDescriptor = 0xffff_ffff;

const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;
const capabilityVersion = 0x20080522;
const SECCOMP_SET_MODE_FILTER = 1;

/** setrlimit(2). */
const limitNumbers = {
  fileSize: 1,
  core: 4,
  threads: 6,
  descriptors: 7,
  lockedMemory: 8,
  messageQueues: 12,
  nice: 13,
  realTime: 14,
} as const;

function limitResources({ descriptors, fileBytes, threads }: JailLimits, hasOwnUser: boolean): void {
  const limits = { core: 0, lockedMemory: 0, messageQueues: 0, nice: 0, realTime: 0, fileSize: fileBytes, descriptors };
  for (const [name, value] of Object.entries({ ...limits, ...(hasOwnUser && { threads }) }))
    call("prlimit64", 0, limitNumbers[name as keyof typeof limits], words(BigInt(value), BigInt(value)), null); // A key of `limits`.
}

/** What it may write belongs to it. */
function becomeUser(user: number, writable: readonly string[]): void {
  for (const path of writable) chownSync(path, user, user);
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}

/** Also root's: `no_new_privs` keeps a later `execve` from returning them. */
function dropCapabilities(): void {
  const header = memory(8);
  header.writeUInt32LE(capabilityVersion, 0);
  call("capset", header, memory(24));
}

/** `execve` closes all descriptors but these: Node marks its own, and others may have come from the parent. */
function keepDescriptors(kept: readonly number[]): void {
  call("close_range", 3, maxDescriptor, CLOSE_RANGE_CLOEXEC);
  // It fails for one that the parent has not given.
  for (const descriptor of [0, 1, 2, ...kept]) tryCall("fcntl", descriptor, F_SETFD, 0);
}

/** Only the kernel has their addresses, which does not keep them from being collected. */
const alive: Buffer[] = [];

/** A text as C has it. */
function text(value: string): Buffer {
  const bytes = memory(Buffer.byteLength(value) + 1);
  bytes.write(value);
  alive.push(bytes);
  return bytes;
}

const texts = (values: readonly Buffer[]): Buffer => words(...values.map(addressOf), 0n);

function filterSystemCalls({ kind }: JailRules, execve: ExecveArguments): void {
  const program = seccompProgram({ architecture: findArchitecture(), pid: process.pid, kind, execve });
  // struct sock_fprog: a number of instructions, and a pointer to them.
  const filter = words(BigInt(program.byteLength / 8), addressOf(program));
  call("seccomp", SECCOMP_SET_MODE_FILTER, 0, filter);
}

function enter(rules: JailRules, args: readonly string[]): void {
  const { limits, writable, environment, descriptors, command } = rules;
  const user = rules.user === "own" ? firstUser + process.pid : rules.user;
  // No signal of the parent's terminal reaches it.
  tryCall("setsid"); // It fails if this process has a session of its own already.
  if (user !== undefined) becomeUser(user, writable);
  limitResources(limits, user !== undefined);
  // The parent's death ends this process even if its main thread is busy and does not notice the closed channel. `setuid` resets it.
  call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  keepDescriptors(descriptors);
  dropCapabilities();
  call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  restrictFiles(rules);

  const argv = [...command, ...args].map(text);
  const path = argv[0] ?? text("");
  const kept = environment.flatMap((name) => (process.env[name] === undefined ? [] : [text(`${name}=${process.env[name]}`)]));
  const [argvPointers, environmentPointers] = [texts(argv), texts(kept)];
  filterSystemCalls(rules, { path: addressOf(path), argv: addressOf(argvPointers), environment: addressOf(environmentPointers) });
  call("execve", path, argvPointers, environmentPointers);
}

const [, , given = "", ...rest] = process.argv;
try {
  const json = given.startsWith("/") ? readFileSync(given, "utf8").replace(/^.*\n/, "") : given;
  enter(JSON.parse(json) as JailRules, rest); // Our own process wrote it.
} catch (error) {
  process.stderr.write(`the sandbox's jail: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(125);
}
