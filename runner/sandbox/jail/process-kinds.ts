import { allowed, and, argumentOffset, fail, give, type Instruction, jumpIfEqual, load, oneOfPairs } from "./bpf.ts";
import type { ProcessKind } from "./rules.ts";
import { type Architecture, systemCallNumbers } from "./system-call-numbers.ts";

type Numbers = Readonly<Record<Architecture, Readonly<Record<string, number>>>>;

/**
 * Calls that change files; Landlock permits them below the folders of the process. It does not limit who changes modes, owners and times of
 * files, so these calls are not among them.
 */
const writerCalls: Numbers = {
  x64: {
    ftruncate: 77,
    rename: 82,
    mkdir: 83,
    rmdir: 84,
    link: 86,
    unlink: 87,
    umask: 95,
    mkdirat: 258,
    unlinkat: 263,
    renameat: 264,
    linkat: 265,
    renameat2: 316,
    copy_file_range: 326,
  },
  arm64: {
    mkdirat: 34,
    unlinkat: 35,
    linkat: 37,
    renameat: 38,
    ftruncate: 46,
    umask: 166,
    renameat2: 276,
    copy_file_range: 285,
  },
};

/** Calls that connect. */
const networkCalls: Numbers = {
  x64: { socket: 41, connect: 42, sendto: 44, sendmsg: 46, bind: 49, recvmmsg: 299, sendmmsg: 307 },
  arm64: { socket: 198, bind: 200, connect: 203, sendto: 206, sendmsg: 211, recvmmsg: 243, sendmmsg: 269 },
};

/** What a kind calls that sandbox processes do not. */
const additions: Readonly<Record<ProcessKind, readonly Numbers[]>> = {
  sandbox: [],
  install: [writerCalls, networkCalls],
  bundle: [],
};

const EAFNOSUPPORT = 97;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_TYPE_MASK = 0xf;

/** TCP and UDP: no Unix sockets, netlink or raw sockets. */
const internetSockets: readonly Instruction[] = [
  [load, 0, 0, argumentOffset(0)],
  [jumpIfEqual, 2, 0, AF_INET],
  [jumpIfEqual, 1, 0, AF_INET6],
  [give, 0, 0, fail(EAFNOSUPPORT)],
  [load, 0, 0, argumentOffset(1)],
  [and, 0, 0, SOCK_TYPE_MASK],
  [jumpIfEqual, 0, 1, SOCK_STREAM],
  allowed,
  [jumpIfEqual, 0, 1, SOCK_DGRAM],
  allowed,
];

/** SOL_SOCKET, IPPROTO_TCP, and for the C library's resolver SOL_IP (IP_RECVERR) and SOL_IPV6 (IPV6_RECVERR, IPV6_V6ONLY). */
const connectionOptions = [
  [1, [2, 9, 13]],
  [6, [1, 4, 5, 6]],
  [0, [11]],
  [41, [25, 26]],
] as const;

/** Uses of calls that a kind has instead of those in `seccomp.ts`, or besides. */
export const ownLimits: Readonly<Record<ProcessKind, Readonly<Record<string, readonly Instruction[]>>>> = {
  sandbox: {},
  install: { socket: internetSockets, setsockopt: oneOfPairs(1, connectionOptions) },
  bundle: {},
};

/** Names and numbers of the calls that a process may make. */
export function callsOf(kind: ProcessKind, architecture: Architecture): Readonly<Record<string, number>> {
  const added = additions[kind].map((numbers) => numbers[architecture]);
  return Object.assign({}, systemCallNumbers[architecture], ...added) as Readonly<Record<string, number>>; // All are such records.
}
