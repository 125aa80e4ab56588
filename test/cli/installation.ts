import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startHeadwater, type Headwater } from "../e2e/support/headwater.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { hw, type Ended, type World } from "./hw.ts";

/** A Headwater with a directory in which `hw` finds it. */
export interface Installation extends Headwater {
  readonly world: World;
  /** Runs `hw` in the directory. */
  hw(...args: readonly string[]): Promise<Ended>;
  /** Runs `hw`, which must succeed. */
  ok(...args: readonly string[]): Promise<string>;
  /** Runs `hw … -o json`, which must succeed; the caller names the expected type. */
  json<T>(...args: readonly string[]): Promise<T>;
  /** Stops Headwater and removes its directory. */
  end(): Promise<void>;
}

export interface InstallationOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The admin API is on, and `hw` has its token. */
  readonly hasAdminToken?: boolean;
}

export async function startInstallation({ env: given = {}, hasAdminToken = false }: InstallationOptions = {}): Promise<Installation> {
  const directory = await temporaryDirectory("cli");
  const tokenFile = join(directory.path, "admin-token");
  const adminEnv = hasAdminToken ? { HEADWATER_ADMIN_TOKEN_FILE: tokenFile } : {};
  if (hasAdminToken) await writeFile(tokenFile, randomBytes(32).toString("hex"), { mode: 0o600 });
  const env = { ...given, ...adminEnv };
  const headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env });
  await mkdir(join(directory.path, "home"));
  const world = { directory: directory.path, env: { HOME: join(directory.path, "home"), ...adminEnv } };
  const run = (args: readonly string[]): Promise<Ended> => hw(world, args);
  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args);
    if (code !== 0) throw new Error(`hw ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  };
  return {
    ...headwater,
    world,
    hw: (...args) => run(args),
    ok,
    json: async <T>(...args: readonly string[]) => JSON.parse(await ok(...args, "-o", "json")) as T, // The caller asserts the content.
    end: async () => {
      await headwater.stop();
      await directory.remove();
    },
  };
}
