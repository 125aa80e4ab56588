import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { stop as stopEsbuild } from "esbuild";
import { customAlphabet } from "nanoid";
import { systemClock } from "../../domain/clock.ts";
import { Unavailable } from "../../domain/errors.ts";
import { openBlobStore } from "../../platform/jetstream/bundles/object-store.ts";
import { waitForPool } from "../../platform/jetstream/requests/pool-requests.ts";
import { createPoolSecrets, ensurePoolKeys } from "../../platform/secrets/secrets.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { createRunMetrics } from "../../platform/telemetry/run-metrics.ts";
import { createSandboxMetrics } from "../../platform/telemetry/sandbox-metrics.ts";
import type { RunnerPorts } from "../../runner/ports.ts";
import { schedulerLimits } from "../../runner/schedule/scheduler.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import { startRunner } from "../../runner/start.ts";
import { localBundles } from "../../platform/jetstream/bundles/local-bundles.ts";
import { natsOf } from "../connections.ts";
import { poolPortsOf } from "../../platform/jetstream/invocations/runner-ports.ts";
import { sandboxCache, sandboxSize } from "../../platform/process/settings/sandbox-size.ts";
import { stacksOf } from "../stacks.ts";
import type { RoleContext, StartedRole } from "../context.ts";

const stateCacheBytes = 64 * 2 ** 20;
const randomId = customAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 20);

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const { connection, release } = await natsOf(context);
  const { pool } = configuration;
  await waitForPool(connection, pool);
  const directory = join(context.dataDirectory, "runner");
  const blobs = openBlobStore(connection);
  const bundles = await localBundles(blobs, join(directory, "bundles"));
  const size = sandboxSize(configuration);
  const sandbox = await createSandbox({
    cacheDirectory: sandboxCache(context),
    bundleDirectory: join(directory, "bundles"),
    egressAllow: configuration.egressAllow,
    logger,
    ...size,
  });
  createSandboxMetrics(processMetrics(), pool, () => sandbox.stats());
  await stopEsbuild(); // It built the guest's scripts if they were missing, and is not needed again.
  const ports: RunnerPorts = {
    sandbox,
    ...poolPortsOf(connection, pool),
    bundles,
    stacks: stacksOf(blobs),
    secrets: await createPoolSecrets(await ensurePoolKeys(configuration.keysDirectory, pool)),
    clock: systemClock,
    randomId,
    log: logger,
    traces: context.traces,
    metrics: createRunMetrics(processMetrics(), pool),
  };
  const config = {
    runner: `r${randomBytes(8).toString("hex")}`,
    pool,
    runTimeoutMs: configuration.runTimeoutMs,
    memoryMb: configuration.runMemoryMb,
    stateCacheBytes,
    limits: schedulerLimits(size.children, configuration.ownerRuns),
    backlog: configuration.backlog,
  };
  const runner = await startRunner(config, ports);
  return {
    checkReady: async () => {
      const { startFailure } = sandbox.stats();
      if (startFailure !== undefined) throw new Unavailable(`sandbox children cannot be started, invocations stay queued: ${startFailure}`);
    },
    stop: async (signal) => {
      await runner.stop(signal);
      await release();
    },
  };
}
