import { type Architecture, systemCallNumbers } from "./system-call-numbers.ts";

/**
 * The filter of system calls as a program for the kernel's BPF machine (seccomp(2), Linux `Documentation/userspace-api/seccomp_filter.rst`).
 * A call that is not listed fails with EPERM, as if the process had no right to it.
 */
type Instruction = readonly [code: number, jumpIfTrue: number, jumpIfFalse: number, operand: number];

const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpIfEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const jumpIfSet = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const jumpIfAtLeast = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const give = 0x06; // BPF_RET | BPF_K

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const fail = (errorNumber: number): number => 0x00050000 | errorNumber;
const EPERM = 1;
const ENOSYS = 38;

const allowed: Instruction = [give, 0, 0, allow];
const refused: Instruction = [give, 0, 0, fail(EPERM)];

/** Offsets in `struct seccomp_data`. */
const numberOffset = 0;
const architectureOffset = 4;
/** Of the low half of an argument: both architectures are little endian. */
const argumentOffset = (index: number): number => 16 + 8 * index;

const auditArchitecture: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Numbers from here on are calls of another ABI, x32. */
const firstX32Number = 0x40000000;

const CLONE_THREAD = 0x00010000;
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
/** PR_SET_NAME, PR_GET_NAME, PR_SET_VMA. */
const prctls = [15, 16, 0x53564d41];

/** Instructions that end a call whose argument equals one of the values. */
const oneOf = (argument: number, values: readonly number[]): readonly Instruction[] => [
  [load, 0, 0, argumentOffset(argument)],
  ...values.flatMap((value): readonly Instruction[] => [[jumpIfEqual, 0, 1, value], allowed]),
];

/**
 * What each of these calls may be used for; a use that nothing here allows fails with EPERM. `execve` is not limited: Landlock permits
 * Node itself only, which stays in the jail.
 */
const limitedCalls = (pid: number): Readonly<Record<string, readonly Instruction[]>> => ({
  // Threads, no processes.
  clone: [[load, 0, 0, argumentOffset(0)], [jumpIfSet, 0, 1, CLONE_THREAD], allowed],
  // Its flags are in memory, which a filter cannot read. The C library then uses `clone`.
  clone3: [[give, 0, 0, fail(ENOSYS)]],
  // libuv then uses its threads.
  io_uring_setup: [[give, 0, 0, fail(ENOSYS)]],
  kill: oneOf(0, [pid]),
  tgkill: oneOf(0, [pid]),
  prlimit64: oneOf(0, [0, pid]),
  ioctl: oneOf(1, ioctls),
  prctl: oneOf(0, prctls),
  fcntl: oneOf(1, fileCommands),
  /*
   * The options that Node sets on a connection. Others lead its packets elsewhere (IP_OPTIONS with a source route, SO_BINDTODEVICE), or
   * run programs and protocols in the kernel (SO_ATTACH_FILTER, TCP_ULP).
   */
  setsockopt: [
    [load, 0, 0, argumentOffset(1)],
    [jumpIfEqual, 0, 2 * socketOptions.length + 1, SOL_SOCKET],
    ...oneOf(2, socketOptions),
    [load, 0, 0, argumentOffset(1)],
    [jumpIfEqual, 0, 2 * tcpOptions.length + 1, IPPROTO_TCP],
    ...oneOf(2, tcpOptions),
  ],
});

/** @param pid of the process that the filter is for: it may signal itself. @returns `struct sock_filter[]` */
export function seccompProgram(architecture: Architecture, pid: number): Buffer {
  const limited = limitedCalls(pid);
  const calls = Object.entries(systemCallNumbers[architecture]).flatMap(([name, number]): readonly Instruction[] => {
    const uses = limited[name];
    if (uses === undefined) return [[jumpIfEqual, 0, 1, number], allowed];
    return [[jumpIfEqual, 0, uses.length + 1, number], ...uses, refused];
  });
  return encode([
    [load, 0, 0, architectureOffset],
    [jumpIfEqual, 1, 0, auditArchitecture[architecture]],
    [give, 0, 0, killProcess],
    [load, 0, 0, numberOffset],
    [jumpIfAtLeast, 0, 1, firstX32Number],
    [give, 0, 0, fail(ENOSYS)],
    ...calls,
    refused,
  ]);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jumpIfTrue, jumpIfFalse, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpIfTrue, index * 8 + 2);
    bytes.writeUInt8(jumpIfFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return bytes;
}
