import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createEgress } from "../../../platform/http/egress.ts";
import { buildPrograms } from "../../../runner/sandbox/children/child-script.ts";
import { isolateCommand } from "../../../runner/sandbox/children/isolate-command.ts";
import { chooseJail } from "../../../runner/sandbox/jail/choose-jail.ts";
import { findJailFailure, type Jail, jailOf } from "../../../runner/sandbox/jail/jail.ts";
import { bundleProfile, installProfile, sandboxProfile } from "../../../runner/sandbox/jail/profiles.ts";
import { firstUser } from "../../../runner/sandbox/jail/rules.ts";
import { createSandbox } from "../../../runner/sandbox/pool.ts";
import { bundleComponent } from "../component.ts";
import { sandboxPids } from "../processes.ts";
import { cacheDirectory, requestFor, startSandbox } from "../sandbox-fixture.ts";
import { buildNativeProgram, packages } from "./native-program.ts";

/**
 * What native code in a sandbox process can do: a program that calls the kernel past Node runs with the flags of a child, in its jail.
 * Machines whose kernel has no Landlock skip it.
 */
let directory: string;
let program: string;
let launcher: string;
let jail: Jail;
let failure: string | undefined;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "headwater-drill-")));
  await chmod(directory, 0o755); // Else users of their own cannot reach it.
  ({ launcher } = await buildPrograms(cacheDirectory));
  jail = jailOf(launcher);
  failure = await findJailFailure(jail);
  await mkdir(join(directory, "program"));
  program = join(directory, "program", "drill.mjs");
  await buildNativeProgram("drill-program.ts", program);
  await writeFile(join(directory, "program/cache"), "code");
  await writeFile(join(directory, "secret"), "key");
});
afterAll(() => rm(directory, { recursive: true }));

async function drill(
  inJail: boolean,
  { only, as = jail }: { readonly only?: readonly string[]; readonly as?: Jail } = {},
): Promise<Readonly<Record<string, string>>> {
  const readable = [join(directory, "program"), packages];
  const sibling = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "ignore" });
  const secret = await open(join(directory, "secret"));
  try {
    const paths = { secret: join(directory, "secret"), writable: directory, cache: join(directory, "program/cache") };
    const targets = { ...paths, parent: process.pid, sibling: sibling.pid, shell: "/bin/sh", only };
    const command = [...isolateCommand(program, readable), JSON.stringify(targets)];
    const [node = "", ...args] = inJail ? as(readable, command) : command;
    const child = spawn(node, args, { env: { SECRET: "x" }, stdio: ["ignore", "pipe", "inherit", "ignore", "ignore", secret.fd] });
    if (child.stdout === null) throw new Error("the program has no output");
    return JSON.parse(await text(child.stdout)) as Record<string, string>; // The program prints it.
  } finally {
    sibling.kill("SIGKILL");
    await secret.close();
  }
}

const succeeded = (outcomes: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(outcomes).filter((name) => !outcomes[name]?.startsWith("refused"));

describe("native code in a sandbox process", () => {
  it("achieves nothing that its process does not need", async ({ skip }) => {
    if (failure !== undefined) skip(failure);
    const outcomes = await drill(true);
    expect(succeeded(outcomes)).toEqual([]);
    expect(Object.keys(outcomes).length).toBeGreaterThan(110);
    expect(await readdir(directory)).not.toContain("written");
  });

  it.runIf(process.getuid?.() === 0)("achieves as little as a user of its own", async ({ skip }) => {
    const own = jailOf(launcher, { ...sandboxProfile, user: "own" });
    const reason = await findJailFailure(own, [packages]);
    if (reason !== undefined) skip(reason);
    expect(succeeded(await drill(true, { as: own }))).toEqual([]);
  });

  it("achieves as little as an install or esbuild", async ({ skip }) => {
    if (failure !== undefined) skip(failure);
    for (const profile of [installProfile, bundleProfile])
      expect(succeeded(await drill(true, { as: jailOf(launcher, profile) }))).toEqual([]);
  });

  it("reads keys, opens sockets and signals processes without the jail, in spite of Node's permission model", async () => {
    const harmless = [
      "read a key",
      "read the parent's environment",
      "open a Unix socket",
      "signal a sibling",
      "list the root",
      "find an inherited descriptor",
    ];
    expect(succeeded(await drill(false, { only: harmless }))).toEqual(expect.arrayContaining(harmless));
  });
});

describe("a sandbox process in its jail", () => {
  it("has a session and, where its parent is root, a user of its own, and hides its memory", async ({ skip }) => {
    if (failure !== undefined) skip(failure);
    const bundleDirectory = join(directory, "bundles");
    const warnings: string[] = [];
    const logger = { warn: (_: object, message?: string) => warnings.push(message ?? "") };
    const fixture = await startSandbox({ children: 2, cacheDirectory, bundleDirectory, jail: "required", logger });
    onTestFinished(() => fixture.stop());
    const bundle = await bundleComponent(bundleDirectory, `export default { name: "c", run: () => 1 }`);
    expect(await fixture.sandbox.execute(requestFor(bundle))).toMatchObject({ outcome: "returned", result: "1" });
    const pids = sandboxPids();
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) {
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      const user = process.getuid?.() === 0 ? firstUser + pid : process.getuid?.();
      expect(status).toContain(`Uid:\t${user}\t${user}\t${user}\t${user}\n`);
      expect(status).toMatch(/CapEff:\t0+\nCapBnd:.*\nCapAmb:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n/);
      expect(await readFile(`/proc/${pid}/stat`, "utf8")).toMatch(new RegExp(`^${pid} \\(.*\\) . ${process.pid} ${pid} ${pid} `));
      // The kernel gives what belongs to a process that hides its memory to root.
      expect((await stat(`/proc/${pid}/environ`)).uid).toBe(0);
      expect(await readFile(`/proc/${pid}/limits`, "utf8")).toMatch(/Max open files +4096 +4096 /);
    }
    expect(warnings).toEqual([]);
  });

  it("keeps the user of its parent, with a warning, where one of its own cannot read what it needs", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip("the parent is not root");
    const hidden = join(directory, "hidden");
    await mkdir(hidden, { mode: 0o700 });
    const warnings: string[] = [];
    const options = {
      mode: "required",
      launcher,
      profile: sandboxProfile,
      user: "own",
      readable: [hidden],
      processes: "sandbox processes",
    } as const;
    const chosen = await chooseJail({ ...options, logger: { warn: (_, message) => warnings.push(message ?? "") } });
    expect(chosen?.profile.user).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/keep the user root, without its capabilities: .*EACCES.*hidden/)]);
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
        cacheDirectory,
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
