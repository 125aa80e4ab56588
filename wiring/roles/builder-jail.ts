import { chmod, mkdir, realpath, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Confine } from "../../builder/ports.ts";
import { Unavailable } from "../../domain/errors.ts";
import { chooseJail } from "../../runner/sandbox/jail/choose-jail.ts";
import { rulesOf } from "../../runner/sandbox/jail/jail.ts";
import { bundleProfile, installProfile, networkFiles } from "../../runner/sandbox/jail/profiles.ts";
import { installUser, type JailProfile } from "../../runner/sandbox/jail/rules.ts";
import type { JailMode } from "../../domain/jail-modes.ts";

const root = join(import.meta.dirname, "../..");
/** Not the bundled one of sandbox processes: esbuild makes that one. */
const launcher = join(root, "runner/sandbox/jail/launcher.ts");

/** What esbuild bundles besides packages: our modules for components and, in a checkout, the programs of sandbox processes. */
const ownFiles = ["builder", "domain", "platform", "runner", "node_modules", "package.json", "tsconfig.json"].map((name) =>
  join(root, name),
);
/** The kernel reads no more of a script's first line. */
const maxFirstLine = 250;

interface Options {
  readonly sandboxJail: JailMode;
  readonly logger: { readonly warn: (fields: object, message?: string) => void };
}

/**
 * Confines esbuild and the installs of this process as far as the kernel can. It must run before esbuild's library is loaded, which reads
 * the path of its program then.
 *
 * @returns undefined where they run without a jail
 * @throws Unavailable if a jail is required and does not work
 */
export async function confineBuilder(options: Options, directory: string): Promise<Confine | undefined> {
  await mkdir(directory, { recursive: true });
  const folder = await realpath(directory);
  const chosen = await chooseJail({
    mode: options.sandboxJail,
    launcher,
    profile: installProfile,
    user: installUser,
    readable: [...ownFiles, folder],
    processes: "esbuild and installs of packages",
    logger: options.logger,
  });
  if (chosen === undefined) return undefined;
  const { user } = chosen.profile;
  const profile: JailProfile = user === undefined ? bundleProfile : { ...bundleProfile, user: "own" };
  await replaceEsbuild(folder, { ...profile, listable: [root] }, options);
  const confine = ({ readable: files, writable, tcpPorts, environment, command }: Parameters<Confine>[0]) => {
    const rules = rulesOf({ ...chosen.profile, tcpPorts, environment }, [...networkFiles, ...files], command, writable);
    return [process.execPath, launcher, JSON.stringify(rules)] as const;
  };
  return Object.assign(confine, { user: typeof user === "number" ? user : undefined });
}

/** esbuild's library starts a program by its path alone, so this one is a script for the launcher. */
async function replaceEsbuild(folder: string, profile: JailProfile, { sandboxJail: mode, logger }: Options): Promise<void> {
  const path = join(folder, "esbuild");
  const readable = [...ownFiles, join(folder, "sets"), join(folder, "empty")];
  const firstLine = `#!${process.execPath} ${launcher}`;
  if (firstLine.length > maxFirstLine || firstLine.split(/\s+/).length !== 2) {
    const message = `esbuild cannot be jailed: the paths of Node and Headwater contain spaces or are too long: ${firstLine}`;
    if (mode === "required") throw new Unavailable(message, { code: "sandbox_unavailable" });
    return logger.warn({ op: "sandbox.jail" }, message);
  }
  await writeFile(path, `${firstLine}\n${JSON.stringify(rulesOf(profile, readable, [esbuildProgram()]))}\n`);
  await chmod(path, 0o755);
  process.env["ESBUILD_BINARY_PATH"] = path;
}

function esbuildProgram(): string {
  const library = createRequire(import.meta.url).resolve("esbuild");
  return createRequire(library).resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`);
}
