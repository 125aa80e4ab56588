import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { stop as stopEsbuild } from "esbuild";
import { customAlphabet } from "nanoid";
import { createEgress } from "../../platform/http/egress.ts";
import { systemClock } from "../../domain/clock.ts";
import type { DataStores, StoreRequest } from "../../domain/data-store/data-stores.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { RunFiles } from "../../domain/files/run-files.ts";
import { openBlobStore } from "../../platform/jetstream/bundles/object-store.ts";
import { requestDataStore } from "../../platform/jetstream/requests/data-store-requests.ts";
import { waitForPool } from "../../platform/jetstream/invocations/pool-requests.ts";
import { createPoolSecrets, ensurePoolKeys } from "../../platform/secrets/secrets.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { createRunMetrics } from "../../platform/telemetry/run-metrics.ts";
import { createSandboxMetrics } from "../../platform/telemetry/sandbox-metrics.ts";
import type { RunnerConfig } from "../../runner/ports.ts";
import { schedulerLimits } from "../../runner/schedule/scheduler.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import type { Sandbox } from "../../runner/sandbox/port.ts";
import { HostListener } from "../../runner/sandbox/processes/host-listener.ts";
import type { SandboxProcesses } from "../../runner/sandbox/processes/port.ts";
import type { Configuration } from "../../platform/process/settings/configuration.ts";
import { startRunner } from "../../runner/start.ts";
import { openLocalBundles } from "../../platform/jetstream/bundles/local-bundles.ts";
import { openNats } from "../connections.ts";
import { openRunFiles } from "../run-files.ts";
import { cpuMeter } from "../../platform/process/settings/cpu-share.ts";
import { memoryShare } from "../../platform/process/settings/memory-share.ts";
import { createRunnerPorts } from "../../platform/jetstream/invocations/runner-ports.ts";
import { ownResources, sandboxCache, sandboxSize, type SandboxSize } from "../../platform/process/settings/sandbox-size.ts";
import { createStackMapper } from "../../builder/bundle/source-map.ts";
import { createSourceMapStacks } from "../../platform/jetstream/bundles/source-map-stacks.ts";
import type { RoleContext, StartedRole } from "../context.ts";

/** Of its container to start, which begins before this one. */
const hostTimeoutMs = 60_000;
const stateCacheBytes = 64 * 2 ** 20;
const randomId = customAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 20);

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration } = context;
  const { pool } = configuration;
  const opened = new AsyncDisposableStack();
  const connection = await openNats(context, opened);
  await waitForPool(connection, pool);
  const directory = join(context.dataDirectory, "runner", "bundles");
  const blobs = openBlobStore(connection);
  const bundles = await openLocalBundles(blobs, directory);
  const host = await listenForHost(context, opened);
  const size = sandboxSize(configuration, (await host?.resources(hostTimeoutMs)) ?? ownResources());
  const dataStores = { perform: (request: StoreRequest) => requestDataStore(connection, pool, request) };
  const files = openRunFiles(connection, pool);
  const sandbox = await startSandbox(context, size, directory, { host, dataStores, runFiles: files });
  const runner = await startRunner(runnerConfig(configuration, size.children), {
    ...createRunnerPorts(connection, pool, { memoryShare, cpuShare: cpuMeter() }),
    sandbox,
    files,
    bundles,
    stacks: createSourceMapStacks(blobs, createStackMapper),
    secrets: await createPoolSecrets(await ensurePoolKeys(configuration.keysDirectory, pool)),
    clock: systemClock,
    randomId,
    log: context.logger,
    traces: context.traces,
    metrics: createRunMetrics(processMetrics(), pool),
  });
  return {
    checkReady: async () => {
      const { startFailure } = sandbox.stats();
      if (startFailure !== undefined) throw new Unavailable(`sandbox children cannot be started, invocations stay queued: ${startFailure}`);
    },
    stop: async (signal) => {
      await runner.stop(signal);
      await opened.disposeAsync();
    },
  };
}

/** The process host in another container, if there is one. */
async function listenForHost({ configuration, logger }: RoleContext, opened: AsyncDisposableStack): Promise<HostListener | undefined> {
  const { sandboxSocket: socket, sandboxUser: user } = configuration;
  if (socket === undefined) return undefined;
  const host = await HostListener.listen({ socket, user, logger });
  opened.defer(() => host.stop());
  return host;
}

interface SandboxParts {
  readonly host: SandboxProcesses | undefined;
  readonly dataStores: DataStores;
  readonly runFiles: RunFiles;
}

async function startSandbox(
  context: RoleContext,
  size: SandboxSize,
  bundleDirectory: string,
  { host: processes, dataStores, runFiles }: SandboxParts,
): Promise<Sandbox> {
  const { logger, configuration } = context;
  const { egressAllow, egressServer, pool, sandboxJail: jail } = configuration;
  const egress = createEgress({ allow: egressAllow, server: egressServer });
  const cacheDirectory = sandboxCache(context);
  const options = { cacheDirectory, bundleDirectory, egress, jail, logger, dataStores, runFiles, ...(processes && { processes }), ...size };
  const sandbox = await createSandbox(options);
  createSandboxMetrics(processMetrics(), pool, () => sandbox.stats());
  await stopEsbuild(); // It has built missing guest scripts, and its process is needed for nothing else.
  return sandbox;
}

const runnerConfig = (configuration: Configuration, children: number): RunnerConfig => ({
  runner: `r${randomBytes(8).toString("hex")}`,
  pool: configuration.pool,
  runTimeoutMs: configuration.runTimeoutMs,
  memoryMb: configuration.runMemoryMb,
  stateCacheBytes,
  limits: schedulerLimits(children, configuration.ownerRuns),
  backlog: configuration.backlog,
});
