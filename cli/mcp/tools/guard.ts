import { realpath, stat } from "node:fs/promises";
import { extname, relative, resolve, sep } from "node:path";
import { codeExtensions, isBelow, type FileGuard } from "../../component/files.ts";
import { notFound, usageFailure } from "../../failure.ts";

const workflowExtensions = [".yaml", ".yml"];

interface CodeGuard extends FileGuard {
  /** As `checkFile`, for a workflow in YAML. */
  readonly checkWorkflow: FileGuard["checkFile"];
}

/** The API accepts components of 1 MiB; a workflow has several. */
const maxFileBytes = 1_048_576;
const maxCallBytes = 4 * maxFileBytes;

/**
 * What one call of a tool may send: files of code below the directory, none with a leading dot or in a folder with one, at most 1 MiB each and
 * 4 MiB in all. A symbolic link must lead to such a file. What is sent comes back to the agent, as lines around a mistake, and dotfiles
 * such as `.env` hold secrets.
 */
export async function codeGuard(directory: string): Promise<CodeGuard> {
  const named = resolve(directory);
  const root = await realpath(named);
  let sent = 0;
  const checkPath: FileGuard["checkPath"] = (path, what) => {
    if (!isBelow(named, path) && !isBelow(root, path)) throw usageFailure(`${what} is outside ${named}`, "use a file below it");
  };
  const checkName = (path: string, what: string, extensions: readonly string[]): void => {
    const below = relative(isBelow(root, path) ? root : named, path);
    if (below.split(sep).some((part) => part.startsWith(".")))
      throw usageFailure(`${what} is not sent: a name in its path begins with a dot`, "move the code to another file");
    if (!extensions.includes(extname(path)))
      throw usageFailure(`${what} is not sent: its name must end in one of ${extensions.join(" ")}`, "move the code to such a file");
  };
  const check = async (path: string, what: string, extensions: readonly string[]): Promise<void> => {
    checkPath(path, what);
    checkName(path, what, extensions);
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) throw notFound(`there is no file ${what}`);
    if (!isBelow(root, real)) throw usageFailure(`${what} is outside ${named}: it is a symbolic link`, "use a file below it");
    checkName(real, what, extensions);
    const found = await stat(real);
    if (!found.isFile()) throw usageFailure(`${what} is no file`);
    if (found.size > maxFileBytes) throw usageFailure(`${what} has ${found.size} bytes: at most ${maxFileBytes} are sent`);
    sent += found.size;
    if (sent > maxCallBytes) throw usageFailure(`${what} is not sent: all files have more than ${maxCallBytes} bytes`, "send fewer files");
  };
  return {
    checkPath,
    checkFile: (path, what) => check(path, what, codeExtensions),
    checkWorkflow: (path, what) => check(path, what, workflowExtensions),
  };
}
