import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgress } from "../../../platform/http/egress.ts";
import { buildPrograms } from "../../../runner/sandbox/children/child-script.ts";
import { isolateCommand } from "../../../runner/sandbox/children/isolate-command.ts";
import { findJailFailure, type Jail, jailOf } from "../../../runner/sandbox/jail/jail.ts";
import { createSandbox } from "../../../runner/sandbox/pool.ts";
import { startSandbox } from "../sandbox-fixture.ts";

/**
 * What native code in a sandbox process can do: a program that calls the kernel past Node runs with the flags of a child, in its jail.
 * Machines whose kernel has no Landlock skip it.
 */
const packages = join(import.meta.dirname, "../../../node_modules");
let directory: string;
let program: string;
let jail: Jail;
let failure: string | undefined;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "headwater-drill-")));
  jail = jailOf((await buildPrograms(directory)).launcher);
  failure = await findJailFailure(jail);
  await mkdir(join(directory, "program"));
  program = join(directory, "program", "drill.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "drill-program.ts")],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [
      {
        name: "leave-native-code",
        setup: ({ onResolve }) => onResolve({ filter: /^koffi$/ }, () => ({ path: join(packages, "koffi/index.js"), external: true })),
      },
    ],
  });
  await writeFile(join(directory, "secret"), "key");
});
afterAll(() => rm(directory, { recursive: true }));

async function drill(inJail: boolean, only?: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const targets = { secret: join(directory, "secret"), writable: directory, parent: process.pid, shell: "/bin/sh", only };
  const readable = [join(directory, "program"), packages];
  const command = [...isolateCommand(program, readable), JSON.stringify(targets)];
  const [node = "", ...args] = inJail ? jail(readable, command) : command;
  const { stdout } = await promisify(execFile)(node, args, { env: {} });
  return JSON.parse(stdout) as Record<string, string>; // The program prints it.
}

const succeeded = (outcomes: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(outcomes).filter((name) => !outcomes[name]?.startsWith("refused"));

describe("native code in a sandbox process", () => {
  it("achieves nothing that its process does not need", async ({ skip }) => {
    if (failure !== undefined) skip(failure);
    const outcomes = await drill(true);
    expect(succeeded(outcomes)).toEqual([]);
    expect(Object.keys(outcomes).length).toBeGreaterThan(40);
    expect(await readdir(directory)).not.toContain("written");
  });

  it("reads keys, opens sockets and signals processes without the jail, in spite of Node's permission model", async () => {
    const harmless = ["read a key", "read the parent's environment", "open a Unix socket", "signal the parent", "list the root"];
    expect(succeeded(await drill(false, harmless))).toEqual(expect.arrayContaining(harmless));
  });
});

describe("a jail that does not work", () => {
  const broken = join(tmpdir(), "headwater-no-such-directory");

  it("is reported with its cause", async () => {
    expect(await findJailFailure(jailOf(join(broken, "launcher.mjs")))).toContain("launcher.mjs");
  });

  it("keeps the sandbox from starting where it is required, and says how to run without it", async () => {
    await expect(
      createSandbox({
        cacheDirectory: directory,
        bundleDirectory: directory,
        egress: createEgress({ allow: [] }),
        jail: "required",
        findJailFailure: async () => "no Landlock",
      }),
    ).rejects.toThrow("sandbox processes cannot be jailed: no Landlock; HEADWATER_SANDBOX_JAIL=auto runs them without a jail");
  });

  it("is a warning where it is not required", async () => {
    const warnings: string[] = [];
    const fixture = await startSandbox({
      findJailFailure: async () => "no Landlock",
      logger: { warn: (_, message) => warnings.push(message ?? "") },
    });
    expect(await fixture.run(`export default { name: "c", run: () => 1 }`)).toMatchObject({ outcome: "returned", result: "1" });
    expect(warnings).toContainEqual(expect.stringContaining("cannot be jailed: no Landlock"));
    await fixture.stop();
  });
});
