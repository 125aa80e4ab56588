import { rmSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createEgress } from "../../platform/http/egress.ts";
import { findJailFailure, type Jail } from "../../runner/sandbox/jail/jail.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import { timeLimits, type TimeLimits } from "../../runner/sandbox/limits.ts";
import { localProcesses } from "../../runner/sandbox/processes/local.ts";
import type { SandboxProcesses } from "../../runner/sandbox/processes/port.ts";
import type { Bundle, ExecuteLimits, ExecuteRequest, Execution, Inspection, Sandbox } from "../../runner/sandbox/port.ts";
import type { SandboxOptions } from "../../runner/sandbox/sandbox-options.ts";
import { bundleComponent } from "./component.ts";
import { sharedSandboxPids } from "./processes.ts";

/** The scripts of the guest are built once for all test files. */
export const cacheDirectory = join(tmpdir(), `headwater-test-sandbox-${userInfo().uid}`);

/**
 * Of a run that ends by itself: beside programs that use all cores it takes many times as long. It is shorter than the limit of a test, so
 * that a run which hangs is reported as one.
 */
export const patientMs = 200_000;
/** Ten times those of the product, for the same reason. A test that is about one of them sets its own. */
const patientLimits: Partial<TimeLimits> = {
  entryMs: 10 * timeLimits.entryMs,
  loadMs: 10 * timeLimits.loadMs,
  cpuMs: 10 * timeLimits.cpuMs,
};

/** An `ExecuteRequest` with defaults. The time limit is that of a run which ends by itself. */
export interface SandboxRequest extends Partial<Omit<ExecuteRequest, "limits">> {
  readonly limits?: Partial<ExecuteLimits>;
}

export interface SandboxFixture {
  readonly sandbox: Sandbox;
  /** Of the bundles. Folders in it can be read by the sandbox as well. */
  readonly directory: string;
  bundle(code: string): Promise<Bundle>;
  /** Bundles and runs; every call is a source of its own unless one is named. */
  run(code: string, request?: SandboxRequest): Promise<Execution>;
  /** Bundles and inspects. */
  inspect(code: string, timeoutMs?: number): Promise<Inspection>;
  stop(): Promise<void>;
}

export async function startSandbox(options: Partial<SandboxOptions> = {}): Promise<SandboxFixture> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-bundles-"));
  await chmod(directory, 0o755); // Sandbox processes have a user of their own where this process is root.
  const sandbox = await createSandbox({
    cacheDirectory,
    bundleDirectory: directory,
    children: 1,
    egress: createEgress({ allow: ["127.0.0.0/8"] }),
    ...(options.cacheDirectory === undefined && options.bundleDirectory === undefined && { findJailFailure: findJailFailureOnce }),
    ...options,
    timeLimits: { ...patientLimits, ...options.timeLimits },
  });
  return {
    ...fixtureOf(sandbox, directory),
    stop: async () => {
      await sandbox.stop(AbortSignal.abort());
      await rm(directory, { recursive: true });
    },
  };
}

const jailFailures = new Map<string, Promise<string | undefined>>();

/** With the usual directories the answer stays the same while tests run, and it costs a process. */
function findJailFailureOnce(jail: Jail, readable: readonly string[] = []): Promise<string | undefined> {
  const key = jail([], []).join("\0");
  const known = jailFailures.get(key) ?? findJailFailure(jail, readable);
  jailFailures.set(key, known);
  return known;
}

/** What a sandbox with bundles in a directory offers to tests. */
function fixtureOf(sandbox: Sandbox, directory: string): Omit<SandboxFixture, "stop"> {
  let sources = 0;
  const bundles = new Map<string, Promise<Bundle>>();
  const bundle = (code: string): Promise<Bundle> => {
    const made = bundles.get(code) ?? bundleComponent(directory, code);
    bundles.set(code, made);
    return made;
  };
  return {
    sandbox,
    directory,
    bundle,
    run: async (code, request) => {
      sources += 1;
      return await sandbox.execute(requestFor(await bundle(code), { source: `dc_${sources}`, ...request }));
    },
    inspect: async (code, timeoutMs = patientMs) => await sandbox.inspect({ bundle: await bundle(code), timeoutMs }),
  };
}

/** Where servers of tests listen. */
export const loopback: readonly string[] = ["127.0.0.0/8", "::1/128"];

let shared: Promise<SandboxFixture> | undefined;
let sharers = 0;

/**
 * A view of one sandbox that all files of a process share. It ends with the process: a start costs more than the tests of most files.
 * Each view has owners and sources of its own, so files notice nothing of each other; those that kill the process, fill it or watch it
 * start their own. `stop` evicts the isolates of the file.
 */
export async function shareSandbox(): Promise<SandboxFixture> {
  shared ??= startShared();
  const { sandbox, directory } = await shared;
  sharers += 1;
  const view = `_${sharers}`;
  const used = new Set<string>();
  const own: Sandbox = {
    ...sandbox,
    execute: (request, ...callbacks) => {
      const source = request.source + view;
      used.add(source);
      return sandbox.execute({ ...request, source, owner: request.owner + view }, ...callbacks);
    },
    evict: (source) => sandbox.evict(source + view),
  };
  return {
    ...fixtureOf(own, directory),
    stop: async () => {
      for (const source of used) sandbox.evict(source);
    },
  };
}

async function startShared(): Promise<SandboxFixture> {
  const processes: SandboxProcesses = {
    ...localProcesses,
    start: (start) => {
      const started = localProcesses.start(start);
      if (started.pid !== undefined) sharedSandboxPids.add(started.pid);
      return started;
    },
  };
  const fixture = await startSandbox({ processes, egress: createEgress({ allow: loopback }) });
  process.once("exit", () => rmSync(fixture.directory, { recursive: true, force: true }));
  return fixture;
}

export function requestFor(bundle: Bundle, { limits, ...request }: SandboxRequest = {}): ExecuteRequest {
  return {
    source: "dc_1",
    owner: "u_1",
    revision: bundle.hash,
    bundle,
    entry: "run",
    event: "null",
    props: "{}",
    db: {},
    endpoint: null,
    environment: { PD_COMPONENT: "dc_1" },
    ...request,
    limits: { timeoutMs: patientMs, memoryMb: 128, ...limits },
  };
}

/** The products of an execution that has some. */
export function ended(execution: Execution): Exclude<Execution, { outcome: "crashed" }> {
  if (execution.outcome === "crashed") throw new Error(`crashed: ${execution.message}`);
  return execution;
}

/** Values emitted, decoded. */
export function emitted(execution: Execution): unknown[] {
  return ended(execution).emits.map(({ payload }) => JSON.parse(payload) as unknown);
}

/** The error of an execution that has one. */
export function errorOf(execution: Execution): {
  readonly outcome: string;
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly stack?: string;
} {
  return { outcome: execution.outcome, ...("error" in execution && execution.error) };
}
