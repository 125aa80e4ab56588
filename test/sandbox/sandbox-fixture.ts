import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgress } from "../../platform/http/egress.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import { timeLimits, type TimeLimits } from "../../runner/sandbox/limits.ts";
import type { Bundle, ExecuteLimits, ExecuteRequest, Execution, Inspection, Sandbox } from "../../runner/sandbox/port.ts";
import type { SandboxOptions } from "../../runner/sandbox/sandbox-options.ts";
import { bundleComponent } from "./component.ts";

/** The scripts of the guest are built once for all test files. */
export const cacheDirectory = join(tmpdir(), "headwater-test-sandbox");

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
  if (options.processes !== undefined) await chmod(directory, 0o755); // Their user is another one.
  const sandbox = await createSandbox({
    cacheDirectory,
    bundleDirectory: directory,
    children: 1,
    egress: createEgress({ allow: ["127.0.0.0/8"] }),
    ...options,
    timeLimits: { ...patientLimits, ...options.timeLimits },
  });
  let sources = 0;
  const bundle = (code: string): Promise<Bundle> => bundleComponent(directory, code);
  return {
    sandbox,
    directory,
    bundle,
    run: async (code, request) => {
      sources += 1;
      return await sandbox.execute(requestFor(await bundle(code), { source: `dc_${sources}`, ...request }));
    },
    inspect: async (code, timeoutMs = patientMs) => await sandbox.inspect({ bundle: await bundle(code), timeoutMs }),
    stop: async () => {
      await sandbox.stop(AbortSignal.abort());
      await rm(directory, { recursive: true });
    },
  };
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
