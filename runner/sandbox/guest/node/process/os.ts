import { systemErrors } from "../system-errors.ts";

const signals = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};
const cpu = { model: "cpu", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };

/** `node:os`: the same fictitious machine for every component. */
export default {
  EOL: "\n",
  devNull: "/dev/null",
  constants: {
    signals,
    errno: Object.fromEntries(Object.entries(systemErrors).map(([code, [errno]]) => [code, errno])),
    priority: { PRIORITY_LOW: 19, PRIORITY_NORMAL: 0, PRIORITY_HIGH: -14 },
    dlopen: {},
    UV_UDP_REUSEADDR: 4,
  },
  arch: (): string => "x64",
  availableParallelism: (): number => 1,
  cpus: (): object[] => [{ ...cpu, times: { ...cpu.times } }],
  endianness: (): string => "LE",
  freemem: (): number => 67_108_864,
  getPriority: (): number => 0,
  homedir: (): string => "/tmp",
  hostname: (): string => "sandbox",
  loadavg: (): number[] => [0, 0, 0],
  machine: (): string => "x86_64",
  networkInterfaces: (): object => ({}),
  platform: (): string => "linux",
  release: (): string => "6.0.0",
  setPriority: (): void => {},
  tmpdir: (): string => "/tmp",
  totalmem: (): number => 134_217_728,
  type: (): string => "Linux",
  uptime: (): number => 1,
  userInfo: (): object => ({ uid: 1000, gid: 1000, username: "component", homedir: "/tmp", shell: null }),
  version: (): string => "#1 SMP",
};
