/**
 * What a process is for, and so which system calls it may make: `sandbox` runs components, `install` puts packages on disk, `bundle` is
 * esbuild.
 */
export type ProcessKind = "sandbox" | "install" | "bundle";

/** What the kernel lets a process in the jail do. Directories include what is below them. */
export interface JailRules {
  readonly kind: ProcessKind;
  readonly readable: readonly string[];
  /** Directories whose names of files it may read. */
  readonly listable?: readonly string[];
  readonly writable: readonly string[];
  readonly executable: readonly string[];
  /** Ports of TCP to which it may connect. Of use only to a kind that may open sockets. */
  readonly tcpPorts: readonly number[];
  /** User and group that it becomes; `own`: one that no other process has. Undefined: it keeps those of its parent. */
  readonly user?: number | "own";
  /** Descriptors that it keeps besides 0, 1 and 2. */
  readonly descriptors: readonly number[];
  /** Names of the variables that it keeps. */
  readonly environment: readonly string[];
  readonly limits: JailLimits;
  /** The start of its command; arguments of the launcher follow. */
  readonly command: readonly string[];
}

/** What a kind of process is allowed, apart from its own files and command. */
export type JailProfile = Omit<JailRules, "readable" | "writable" | "executable" | "command">;

export interface JailLimits {
  /** Open at once. */
  readonly descriptors: number;
  /** Bytes of a file that it writes. */
  readonly fileBytes: number;
  /** Threads of its user. Only with a user of its own: others share theirs with their parent. */
  readonly threads: number;
}

/**
 * Users of jailed processes: this number and their process id, which is below 2^22. Two processes that live at the same time never have
 * the same user, so that none may signal or read another one. systemd lists these numbers, up to 2^31, as unused ("Users, Groups, UIDs and
 * GIDs on systemd Systems"): no user, container or service of a machine has them.
 */
export const firstUser = 0x7000_0000;
/** Beyond those of process ids. Installs share npm's cache, so they share a user. */
export const installUser = firstUser + 2 ** 22;
