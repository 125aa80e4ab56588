import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");

/** A section of docs/development.md: a change of the code base as diffs. */
export interface Walk {
  readonly heading: string;
  readonly diffs: readonly string[];
  /** Files that the diffs change or create: all hand-written files that the change needs. */
  readonly files: readonly string[];
}

/** The sections of docs/development.md that contain `diff` blocks. */
export async function readWalks(): Promise<readonly Walk[]> {
  const page = await readFile(join(root, "docs/development.md"), "utf8");
  return page.split(/^## /m).flatMap((section) => {
    const diffs = [...section.matchAll(/^```diff\n([\s\S]*?)^```$/gm)].map(([, diff = ""]) => diff);
    const files = diffs.flatMap((diff) => [...diff.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file = ""]) => file));
    return diffs.length === 0 ? [] : [{ heading: section.slice(0, section.indexOf("\n")), diffs, files: [...new Set(files)] }];
  });
}

export interface Copy {
  readonly path: string;
  /** Runs a program of the copy's packages. @throws with the program's output */
  node(program: string, ...args: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Copies these files of the working tree, or all. Packages and downloaded tools are shared with the original. */
export async function copyTree(files: readonly string[] = []): Promise<Copy> {
  const path = await mkdtemp(join(tmpdir(), "headwater-walks-"));
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...files];
  const listed = await run("git", list, { cwd: root, maxBuffer: 64 << 20 });
  for (const file of listed.stdout.split("\0").filter((name) => name !== ""))
    await cp(join(root, file), join(path, file)).catch((error: unknown) => {
      if (!isMissing(error)) throw error; // Deleted in the working tree.
    });
  for (const folder of ["node_modules", ".headwater"]) await symlink(join(root, folder), join(path, folder));
  return {
    path,
    node: async (program, ...args) => {
      await run(process.execPath, ["--no-node-snapshot", program, ...args], { cwd: path, maxBuffer: 64 << 20 }).catch((error: unknown) => {
        throw new Error(`${program} ${args.join(" ")} failed:\n${outputOf(error)}`, { cause: error });
      });
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Applies the diffs of a walk. Line numbers are ignored: `git apply` finds each hunk by its context. @throws if one does not apply */
export async function applyWalk({ heading, diffs }: Walk, { path }: Copy): Promise<void> {
  for (const [index, diff] of diffs.entries()) {
    const file = join(path, `walk-${index}.diff`);
    await writeFile(file, diff);
    await run("git", ["apply", "--recount", file], { cwd: path, env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() } }).catch(
      (error: unknown) => {
        throw new Error(`docs/development.md, "${heading}", diff ${index + 1} does not apply:\n${outputOf(error)}\n${diff}`, {
          cause: error,
        });
      },
    );
    await rm(file);
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

function outputOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }; // As execFile rejects.
  return `${stdout}${stderr}` || error.message;
}
