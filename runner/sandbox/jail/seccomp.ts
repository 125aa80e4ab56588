import {
  allOf,
  allowed,
  and,
  argumentOffset,
  architectureOffset,
  encode,
  ENOSYS,
  fail,
  give,
  type Instruction,
  jumpIfAtLeast,
  jumpIfEqual,
  jumpIfSet,
  killed,
  load,
  numberOffset,
  oneOf,
  oneOfPairs,
  refused,
} from "./bpf.ts";
import { callsOf, ownLimits } from "./process-kinds.ts";
import type { ProcessKind } from "./rules.ts";
import type { Architecture } from "./system-call-numbers.ts";

/**
 * The filter of system calls (seccomp(2)). A call that is not listed fails with EPERM, as if the process had no right to it.
 */
const auditArchitecture: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Numbers from here on are calls of another ABI, x32. */
const firstX32Number = 0x40000000;

/** CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD: threads with descriptors of their own would have no limit of them. */
const threadFlags = 0x00010f00;
/** MAP_SHARED, MAP_HUGETLB: such memory can be kept without being counted as the process's. */
const uncountedMemory = 0x00040001;
/** F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC. With F_SETOWN and F_SETSIG, a connection signals other processes. */
const fileCommands = [0, 1, 2, 3, 4, 1030];
const SOL_SOCKET = 1;
const IPPROTO_TCP = 6;
/** SO_KEEPALIVE, SO_LINGER. */
const socketOptions = [9, 13];
/** TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT. */
const tcpOptions = [1, 4, 5, 6];
/** TCGETS, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Others can type into a terminal. */
const ioctls = [0x5401, 0x541b, 0x5421, 0x5450, 0x5451];
const PR_SET_DUMPABLE = 4n;
/** PR_SET_NAME, PR_GET_NAME, PR_SET_VMA. */
const prctls = [15, 16, 0x53564d41];

/** Addresses in the launcher of what it gives to `execve`. */
export interface ExecveArguments {
  readonly path: bigint;
  readonly argv: bigint;
  readonly environment: bigint;
}

export interface FilterOptions {
  readonly architecture: Architecture;
  /** Of the process that the filter is for: it may signal itself. */
  readonly pid: number;
  readonly kind: ProcessKind;
  readonly execve: ExecveArguments;
}

/** What each of these calls may be used for; a use that nothing here allows fails with EPERM. */
const limitedCalls = ({ pid, execve }: FilterOptions): Readonly<Record<string, readonly Instruction[]>> => ({
  // The launcher's own: these random addresses are gone with it. Landlock permits the one program only.
  execve: allOf([execve.path, execve.argv, execve.environment]),
  // Threads, no processes.
  clone: [[load, 0, 0, argumentOffset(0)], [and, 0, 0, threadFlags], [jumpIfEqual, 0, 1, threadFlags], allowed],
  mmap: [[load, 0, 0, argumentOffset(3)], [jumpIfSet, 1, 0, uncountedMemory], allowed],
  // Its flags are in memory, which a filter cannot read. The C library then uses `clone`.
  clone3: [[give, 0, 0, fail(ENOSYS)]],
  // libuv then uses its threads.
  io_uring_setup: [[give, 0, 0, fail(ENOSYS)]],
  kill: oneOf(0, [pid]),
  tgkill: oneOf(0, [pid]),
  prlimit64: oneOf(0, [0, pid]),
  ioctl: oneOf(1, ioctls),
  prctl: [...oneOf(0, prctls), ...allOf([PR_SET_DUMPABLE, 0n])],
  fcntl: oneOf(1, fileCommands),
  /*
   * The options that Node sets on a connection. Others lead its packets elsewhere (IP_OPTIONS with a source route, SO_BINDTODEVICE), or
   * run programs and protocols in the kernel (SO_ATTACH_FILTER, TCP_ULP).
   */
  setsockopt: oneOfPairs(1, [
    [SOL_SOCKET, socketOptions],
    [IPPROTO_TCP, tcpOptions],
  ]),
});

/** @returns `struct sock_filter[]` */
export function seccompProgram(options: FilterOptions): Buffer {
  const { architecture, kind } = options;
  const limited = { ...limitedCalls(options), ...ownLimits[kind] };
  const calls = Object.entries(callsOf(kind, architecture)).flatMap(([name, number]): readonly Instruction[] => {
    const uses = limited[name];
    if (uses === undefined) return [[jumpIfEqual, 0, 1, number], allowed];
    return [[jumpIfEqual, 0, uses.length + 1, number], ...uses, refused];
  });
  return encode([
    [load, 0, 0, architectureOffset],
    [jumpIfEqual, 1, 0, auditArchitecture[architecture]],
    killed,
    [load, 0, 0, numberOffset],
    [jumpIfAtLeast, 0, 1, firstX32Number],
    [give, 0, 0, fail(ENOSYS)],
    ...calls,
    refused,
  ]);
}
