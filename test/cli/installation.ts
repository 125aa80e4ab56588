import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { withSystem, type SharedSystem } from "../support/system/system.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { hw, type Ended, type World } from "./hw.ts";

/** A user of the shared system, with a directory in which `hw` finds it as it finds the system of `npm start`. */
export interface Installation extends Pick<SharedSystem, "addUser" | "apiUrl" | "call" | "key" | "username"> {
  readonly world: World;
  /** Runs `hw` in the directory. */
  hw(...args: readonly string[]): Promise<Ended>;
  /** Runs `hw`, which must succeed. */
  ok(...args: readonly string[]): Promise<string>;
  /** Runs `hw … -o json`, which must succeed; the caller names the expected type. */
  json<T>(...args: readonly string[]): Promise<T>;
}

/** For the test file that calls this at its top level; available from `beforeAll` on. */
export function withInstallation(): Installation {
  const system = withSystem();
  let directory: TemporaryDirectory;
  let world: World;
  beforeAll(async () => {
    directory = await temporaryDirectory("cli");
    world = await createWorld(directory.path, system);
  });
  afterAll(() => directory.remove());
  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await hw(world, args);
    if (code !== 0) throw new Error(`hw ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  };
  return {
    get apiUrl() {
      return system.apiUrl;
    },
    get key() {
      return system.key;
    },
    get username() {
      return system.username;
    },
    get world() {
      return world;
    },
    addUser: () => system.addUser(),
    call: (method, path, body) => system.call(method, path, body),
    hw: (...args) => hw(world, args),
    ok,
    json: async <T>(...args: readonly string[]) => JSON.parse(await ok(...args, "-o", "json")) as T, // The caller asserts the content.
  };
}

async function createWorld(directory: string, { key, apiUrl }: SharedSystem): Promise<World> {
  const [home, data] = [join(directory, "home"), join(directory, ".headwater")];
  for (const folder of [home, data]) await mkdir(folder);
  await writeFile(join(data, "api-key"), key, { mode: 0o600 });
  await writeFile(join(data, "api-url"), apiUrl.replace(/\/v1$/, ""));
  return { directory, env: { HOME: home } };
}
