import koffi from "koffi";

/**
 * The program of a sandbox process that an attacker controls: it calls the kernel as native code can, and prints what each attempt
 * returned. Its argument is JSON: what it attacks, and which attempts it makes, by default all.
 */
interface Targets {
  /** A file that the parent has opened in a way that `execve` does not close. */
  readonly secret: string;
  readonly writable: string;
  readonly parent: number;
  /** Another sandbox process. */
  readonly sibling: number;
  readonly shell: string;
  /** A file that the process may read. */
  readonly cache: string;
  readonly only?: readonly string[];
}

const libc = koffi.load("libc.so.6");
const syscall = libc.func("long syscall(long number, ...)");
const { secret, writable, parent, sibling, shell, cache, only } = JSON.parse(process.argv[2] ?? "") as Targets; // Our own test wrote it.

type Argument = number | bigint | string | Buffer | null;
function attempt(number: number, ...args: readonly Argument[]): string {
  const typed = args.flatMap((arg) => {
    if (typeof arg === "string") return ["const char *", arg];
    return [arg === null || Buffer.isBuffer(arg) ? "void *" : "long", arg];
  });
  const result = Number(syscall(number, ...typed));
  return result >= 0 ? `succeeded (${result})` : `refused (${koffi.errno()})`;
}

/** By architecture: x64, arm64. */
const nr = (x64: number, arm64: number): number => (process.arch === "arm64" ? arm64 : x64);
const openat = nr(257, 56);
const AT_FDCWD = -100;
const O_RDONLY = 0;
const O_WRONLY_CREAT = 0o101;
const buffer = Buffer.alloc(256);
const O_WRONLY_TRUNC = 0o1001;
const AT_EMPTY_PATH = 0x1000;
/** Number of a call whose result, a descriptor, is needed; negative if it fails. */
const open = (path: string): number => Number(syscall(openat, "long", AT_FDCWD, "const char *", path, "long", O_RDONLY, "long", 0));

/** What a descriptor of this process is open for. */
function linkOf(descriptor: number): string {
  const path = `/proc/self/fd/${descriptor}`;
  const bytes = Number(syscall(nr(267, 78), "long", AT_FDCWD, "const char *", path, "void *", buffer, "long", buffer.byteLength));
  return buffer.toString("utf8", 0, Math.max(0, bytes));
}

/** Repeats a call that takes one more of something, until it fails. */
function flood(limit: number, act: () => string): string {
  for (let count = 0; count < limit; count += 1) {
    const outcome = act();
    if (outcome.startsWith("refused")) return outcome;
  }
  return `succeeded (${limit} times)`;
}

function limits(value: number): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(16));
  for (const offset of [0, 8]) bytes.writeBigUInt64LE(BigInt(value), offset);
  return bytes;
}

const unixAddress = Buffer.from("\u0001\u0000\u0000headwater", "latin1");

const attempts: Readonly<Record<string, () => string>> = {
  "read a key": () => attempt(openat, AT_FDCWD, secret, O_RDONLY, 0),
  "read the parent's environment": () => attempt(openat, AT_FDCWD, `/proc/${parent}/environ`, O_RDONLY, 0),
  "read the parent's memory": () => attempt(openat, AT_FDCWD, `/proc/${parent}/mem`, O_RDONLY, 0),
  "read the environment of process 1": () => attempt(openat, AT_FDCWD, "/proc/1/environ", O_RDONLY, 0),
  "read accounts": () => attempt(openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0),
  "list the root": () => attempt(openat, AT_FDCWD, "/", 0o200000, 0),
  "read a key through /proc/self/root": () => attempt(openat, AT_FDCWD, `/proc/self/root${secret}`, O_RDONLY, 0),
  "write a file": () => attempt(openat, AT_FDCWD, `${writable}/written`, O_WRONLY_CREAT, 0o600),
  "write shared memory": () => attempt(openat, AT_FDCWD, "/dev/shm/headwater-drill", O_WRONLY_CREAT, 0o600),
  "make a file in memory": () => attempt(nr(319, 279), "x", 0),
  "link a file": () => attempt(nr(265, 37), AT_FDCWD, secret, AT_FDCWD, `${writable}/linked`, 0),
  "delete a file": () => attempt(nr(263, 35), AT_FDCWD, secret, 0),
  "open a Unix socket": () => attempt(nr(41, 198), 1, 1, 0),
  "open a netlink socket": () => attempt(nr(41, 198), 16, 3, 0),
  "open a raw socket": () => attempt(nr(41, 198), 2, 3, 1),
  "make a pair of sockets": () => attempt(nr(53, 199), 1, 1, 0, buffer),
  "connect the channel to an abstract socket": () => attempt(nr(42, 203), 3, unixAddress, unixAddress.byteLength),
  listen: () => attempt(nr(50, 201), 3, 1),
  bind: () => attempt(nr(49, 200), 3, buffer, 16),
  "run a shell": () => attempt(nr(59, 221), shell, null, null),
  "run a shell by descriptor": () => attempt(nr(322, 281), AT_FDCWD, shell, null, null, 0),
  "start a process": () => attempt(nr(56, 220), 17, 0, 0, 0, 0),
  "start a process by clone3": () => attempt(435, buffer, 88),
  "signal the parent": () => attempt(nr(62, 129), parent, 0),
  "signal every process": () => attempt(nr(62, 129), -1, 0),
  "signal a thread of the parent": () => attempt(nr(234, 131), parent, parent, 0),
  "trace the parent": () => attempt(nr(101, 117), 16, parent, 0, 0),
  "read the parent's memory by call": () => attempt(nr(310, 270), parent, buffer, 1, buffer, 1, 0),
  "open the parent as a descriptor": () => attempt(434, parent, 0),
  "limit the parent": () => attempt(nr(302, 261), parent, 7, null, buffer),
  "change the parent's priority": () => attempt(nr(141, 140), 0, parent, 10),
  "load a BPF program": () => attempt(nr(321, 280), 5, buffer, 48),
  "set up io_uring": () => attempt(425, 1, buffer),
  "handle page faults": () => attempt(nr(323, 282), 0),
  "open performance counters": () => attempt(nr(298, 241), buffer, 0, -1, -1, 0),
  "use keyrings": () => attempt(nr(250, 219), 0, -3, 0),
  mount: () => attempt(nr(165, 40), "none", writable, "tmpfs", 0, null),
  "leave its namespaces": () => attempt(nr(272, 97), 0x10000000),
  "change its root": () => attempt(nr(161, 51), writable),
  "become another user": () => attempt(nr(105, 146), 1),
  "type into a terminal": () => attempt(nr(16, 29), 2, 0x5412, buffer),
  "read the parent's descriptors": () => attempt(openat, AT_FDCWD, `/proc/${parent}/fd`, 0o200000, 0),
  "read a sibling's environment": () => attempt(openat, AT_FDCWD, `/proc/${sibling}/environ`, O_RDONLY, 0),
  "read a sibling's memory": () => attempt(openat, AT_FDCWD, `/proc/${sibling}/mem`, O_RDONLY, 0),
  "read a sibling's memory by call": () => attempt(nr(310, 270), sibling, buffer, 1, buffer, 1, 0),
  "write a sibling's memory by call": () => attempt(nr(311, 271), sibling, buffer, 1, buffer, 1, 0),
  "trace a sibling": () => attempt(nr(101, 117), 16, sibling, 0, 0),
  "be traced": () => attempt(nr(101, 117), 0, 0, 0, 0),
  "signal a sibling": () => attempt(nr(62, 129), sibling, 0),
  "signal a sibling's thread": () => attempt(nr(200, 130), sibling, 0),
  "queue a signal for a sibling": () => attempt(nr(129, 138), sibling, 0, buffer),
  "signal its process group": () => attempt(nr(62, 129), 0, 0),
  "open a sibling as a descriptor": () => attempt(434, sibling, 0),
  "take a descriptor of a sibling": () => attempt(438, 3, 0, 0),
  "signal by descriptor": () => attempt(424, 3, 0, null, 0),
  "advise a sibling's memory": () => attempt(440, 3, buffer, 1, 21, 0),
  "compare with a sibling": () => attempt(nr(312, 272), sibling, parent, 0, 0, 0),
  "find an inherited descriptor": () =>
    Array.from({ length: 64 }, (_, index) => linkOf(index)).includes(secret) ? "succeeded" : "refused",
  "replace a code cache": () => attempt(openat, AT_FDCWD, cache, O_WRONLY_TRUNC, 0),
  "delete a code cache": () => attempt(nr(263, 35), AT_FDCWD, cache, 0),
  "rename a file over a code cache": () => attempt(nr(316, 276), AT_FDCWD, secret, AT_FDCWD, cache, 0),
  "empty a code cache": () => attempt(nr(76, 45), cache, 0),
  "change the mode of a code cache": () => attempt(nr(268, 53), AT_FDCWD, cache, 0o666),
  "change the owner of a code cache": () => attempt(nr(260, 54), AT_FDCWD, cache, 1, 1, 0),
  "make a directory": () => attempt(nr(258, 34), AT_FDCWD, `${writable}/directory`, 0o700),
  "make a device": () => attempt(nr(259, 33), AT_FDCWD, `${writable}/device`, 0o020600, 0x0101),
  "make a symbolic link": () => attempt(nr(266, 36), secret, AT_FDCWD, `${writable}/symbolic`),
  "set an extended attribute": () => attempt(nr(188, 5), cache, "user.x", buffer, 1, 0),
  "open a file by handle": () => attempt(nr(304, 265), AT_FDCWD, buffer, 0),
  "watch files": () => attempt(nr(294, 26), 0),
  "watch all files": () => attempt(nr(300, 262), 0, 0),
  "read another directory of its root": () => attempt(openat, AT_FDCWD, "/proc/self/cwd", 0o200000, 0),
  "write its own memory by file": () => attempt(openat, AT_FDCWD, "/proc/self/mem", 0o2, 0),
  "score itself against the out-of-memory killer": () => attempt(openat, AT_FDCWD, "/proc/self/oom_score_adj", 0o1, 0),
  "execute Node again": () => attempt(nr(59, 221), process.execPath, null, null),
  "execute /proc/self/exe": () => attempt(nr(59, 221), "/proc/self/exe", null, null),
  "execute Node by descriptor": () => attempt(nr(322, 281), open(process.execPath), "", null, null, AT_EMPTY_PATH),
  "execute a file in memory": () =>
    attempt(nr(322, 281), Number(syscall(nr(319, 279), "const char *", "x", "long", 0)), "", null, null, AT_EMPTY_PATH),
  "start a process with fork": () => (process.arch === "x64" ? attempt(57) : attempt(220, 17, 0, 0, 0, 0)),
  "start a process with vfork": () => (process.arch === "x64" ? attempt(58) : attempt(220, 0x4111, 0, 0, 0, 0)),
  "start a process in a new user namespace": () => attempt(nr(56, 220), 0x10000011, 0, 0, 0, 0),
  "make shared memory": () => attempt(nr(29, 194), 1, 4096, 0o1600),
  "make a message queue": () => attempt(nr(68, 186), 1, 0o1600),
  "make semaphores": () => attempt(nr(64, 190), 1, 1, 0o1600),
  "open a message queue by name": () => attempt(nr(240, 180), "headwater", 0o102, 0o600, null),
  "make secret memory": () => attempt(447, 0),
  "lock memory": () => attempt(nr(149, 228), buffer, 4096),
  "add a key": () => attempt(nr(248, 217), "user", "x", buffer, 1, -3),
  "request a key": () => attempt(nr(249, 218), "user", "x", null, 0),
  "enter io_uring": () => attempt(426, 3, 1, 0, 0, null, 0),
  "register with io_uring": () => attempt(427, 3, 0, null, 0),
  "handle page faults by device": () => attempt(openat, AT_FDCWD, "/dev/userfaultfd", 0o2, 0),
  unmount: () => attempt(nr(166, 39), writable, 0),
  "open a mount": () => attempt(428, AT_FDCWD, "/", 1),
  "open a file system": () => attempt(430, "tmpfs", 0),
  "move a mount": () => attempt(429, AT_FDCWD, "/", AT_FDCWD, writable, 0),
  "swap its root": () => attempt(nr(155, 41), writable, writable),
  "enter namespaces of the parent": () => attempt(nr(308, 268), 3, 0),
  "make a user namespace": () => attempt(nr(272, 97), 0x10000000 | 0x20000),
  "become root": () => attempt(nr(117, 147), 0, 0, 0),
  "change its group": () => attempt(nr(106, 144), 0),
  "change its groups": () => attempt(nr(116, 159), 0, null),
  "regain capabilities": () => attempt(nr(126, 91), buffer, buffer),
  "leave its session": () => attempt(nr(112, 157)),
  "join another process group": () => attempt(nr(109, 154), 0, parent),
  "outlive its parent": () => attempt(nr(157, 167), 1, 0, 0, 0, 0),
  "let others read its memory": () => attempt(nr(157, 167), 4, 1, 0, 0, 0),
  "let others trace it": () => attempt(nr(157, 167), 0x59616d61, -1, 0, 0, 0),
  "replace its filter": () => attempt(nr(317, 277), 1, 0, buffer),
  "raise its limits": () => attempt(nr(302, 261), 0, 7, limits(1_000_000), null),
  "raise its priority": () => attempt(nr(141, 140), 0, 0, -10),
  "schedule itself as real time": () => attempt(nr(144, 119), 0, 1, buffer),
  "set the clock": () => attempt(nr(227, 112), 0, buffer),
  "set the name of the machine": () => attempt(nr(170, 161), "x", 1),
  "load a module": () => attempt(nr(175, 105), buffer, 1, ""),
  reboot: () => attempt(nr(169, 142), 0xfee1dead, 672274793, 0, null),
  "read the kernel's log": () => attempt(nr(103, 116), 3, buffer, 256),
  "use ports of the machine": () => (process.arch === "x64" ? attempt(172, 3) : attempt(openat, AT_FDCWD, "/dev/mem", 0, 0)),
  "open descriptors without end": () => flood(20_000, () => attempt(nr(32, 23), 0)),
  // Dropped from the process, its pages stay in memory.
  "hide memory in shared pages": () => attempt(nr(9, 222), 0, 4096, 3, 0x21, -1, 0),
  "share pages with itself": () => attempt(nr(9, 222), 0, 4096, 3, 0x23, -1, 0),
  "use huge pages": () => attempt(nr(9, 222), 0, 2 ** 21, 3, 0x40022, -1, 0),
  "start a thread with descriptors of its own": () => attempt(nr(56, 220), 0x10b00, 0, 0, 0, 0),
  "undo no_new_privs": () => attempt(nr(157, 167), 38, 0, 0, 0, 0),
};

const chosen = Object.entries(attempts).filter(([name]) => only?.includes(name) ?? true);
process.stdout.write(JSON.stringify(Object.fromEntries(chosen.map(([name, act]) => [name, act()]))));
