import { systemErrors, type SystemCode } from "../system-errors.ts";

/** An error as libuv's: code, errno, syscall, path, and a message made of them. */
export function fsError(code: SystemCode, syscall: string, at?: string, to?: string): Error {
  const paths = `${at === undefined ? "" : ` '${at}'`}${to === undefined ? "" : ` -> '${to}'`}`;
  return Object.assign(systemError(code, syscall, paths), at === undefined ? {} : { path: at }, to === undefined ? {} : { dest: to });
}

/** The same for a limit of ours, which the message names. */
export const limitError = (syscall: string, limit: string): Error => systemError("ENOSPC", syscall, `: ${limit}`);

/** Of what the host could not do with the files of the run. Programs expect the errors of a disk. */
export function hostFileError(error: unknown, syscall: string): Error {
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown };
  return Object.assign(systemError(code === "files_full" ? "ENOSPC" : "EIO", syscall, `: ${String(message)}`), { cause: error });
}

function systemError(code: SystemCode, syscall: string, rest: string): Error {
  const [errno, text] = systemErrors[code];
  return Object.assign(new Error(`${code}: ${text}, ${syscall}${rest}`), { errno: -errno, code, syscall });
}
