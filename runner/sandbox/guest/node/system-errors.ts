/** Error numbers of Linux, with libuv's messages. */
export const systemErrors = {
  EPERM: [1, "operation not permitted"],
  ENOENT: [2, "no such file or directory"],
  EIO: [5, "i/o error"],
  EBADF: [9, "bad file descriptor"],
  EAGAIN: [11, "resource temporarily unavailable"],
  ENOMEM: [12, "not enough memory"],
  EACCES: [13, "permission denied"],
  EBUSY: [16, "resource busy or locked"],
  EEXIST: [17, "file already exists"],
  ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "illegal operation on a directory"],
  EINVAL: [22, "invalid argument"],
  EMFILE: [24, "too many open files"],
  ENOSPC: [28, "no space left on device"],
  EROFS: [30, "read-only file system"],
  EPIPE: [32, "broken pipe"],
  ENAMETOOLONG: [36, "name too long"],
  ENOTEMPTY: [39, "directory not empty"],
  ELOOP: [40, "too many symbolic links encountered"],
  EADDRINUSE: [98, "address already in use"],
  ENETUNREACH: [101, "network is unreachable"],
  ECONNABORTED: [103, "software caused connection abort"],
  ECONNRESET: [104, "connection reset by peer"],
  ETIMEDOUT: [110, "connection timed out"],
  ECONNREFUSED: [111, "connection refused"],
  EHOSTUNREACH: [113, "host is unreachable"],
} as const satisfies Record<string, readonly [number, string]>;

export type SystemCode = keyof typeof systemErrors;

export const systemErrorMap = (): Map<number, [string, string]> =>
  new Map(Object.entries(systemErrors).map(([code, [errno, message]]) => [-errno, [code, message]]));
