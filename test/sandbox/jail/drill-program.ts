import koffi from "koffi";

/**
 * The program of a sandbox process that an attacker controls: it calls the kernel as native code can, and prints what each attempt
 * returned. Its argument is JSON: what it attacks, and which attempts it makes, by default all.
 */
interface Targets {
  readonly secret: string;
  readonly writable: string;
  readonly parent: number;
  readonly shell: string;
  readonly only?: readonly string[];
}

const libc = koffi.load("libc.so.6");
const syscall = libc.func("long syscall(long number, ...)");
const { secret, writable, parent, shell, only } = JSON.parse(process.argv[2] ?? "") as Targets; // Our own test wrote it.

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
  "undo no_new_privs": () => attempt(nr(157, 167), 38, 0, 0, 0, 0),
};

const chosen = Object.entries(attempts).filter(([name]) => only?.includes(name) ?? true);
process.stdout.write(JSON.stringify(Object.fromEntries(chosen.map(([name, act]) => [name, act()]))));
