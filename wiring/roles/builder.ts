import { join } from "node:path";
import type { Addresses, BuildRequests, Inspector } from "../../builder/ports.ts";
import { startBuilder } from "../../builder/start.ts";
import { codeLimits } from "../../domain/component/component-code.ts";
import type { Traces } from "../../domain/traces.ts";
import { createEgress, type Egress } from "../../platform/http/egress.ts";
import { serveBuildRequests } from "../../platform/jetstream/requests/build-requests.ts";
import { openBlobStore } from "../../platform/jetstream/bundles/object-store.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import type { Sandbox } from "../../runner/sandbox/port.ts";
import { natsOf } from "../connections.ts";
import type { RoleContext, StartedRole } from "../context.ts";
import { sandboxCache } from "../../platform/process/settings/sandbox-size.ts";

/** Of one request for a component's text. */
const readTimeoutMs = 10_000;

export async function start(context: RoleContext): Promise<StartedRole> {
  const { connection, release } = await natsOf(context);
  const directory = join(context.dataDirectory, "builder");
  // One child is enough: definitions are read one at a time, and nothing of what it evaluates is kept. It starts with the first build.
  let sandbox: Promise<Sandbox> | undefined;
  const startSandbox = () =>
    createSandbox({
      cacheDirectory: sandboxCache(context),
      bundleDirectory: directory,
      children: 1,
      ownerProcesses: Math.min(1, context.configuration.sandboxOwners),
      egressAllow: [],
      memoryBudgetMb: 64,
      logger: context.logger,
    });
  const inspect: Inspector["inspect"] = async (request) => {
    sandbox ??= startSandbox().catch((error: unknown) => {
      sandbox = undefined;
      throw error;
    });
    return (await sandbox).inspect(request);
  };
  const bundles = openBlobStore(connection);
  const egress = createEgress({ allow: context.configuration.egressAllow });
  const addresses = createAddresses(egress);
  const builder = await startBuilder({
    directory,
    inspector: { inspect },
    bundles,
    addresses,
    requests: traced({ serve: (calls) => serveBuildRequests(connection.nats, calls) }, context.traces),
  });
  return {
    stop: async (signal) => {
      await builder.stop();
      await addresses.close();
      await (await sandbox)?.stop(signal);
      await release();
    },
  };
}

/** What fetches is loaded when the first component has to be fetched: most are sent. */
function createAddresses(egress: Egress): Addresses & { close(): Promise<void> } {
  const load = async () => {
    const { createTextReader } = await import("../../platform/http/text-reader.ts");
    return createTextReader({ egress, maxBytes: codeLimits.bytes, timeoutMs: readTimeoutMs });
  };
  let reader: ReturnType<typeof load> | undefined;
  return {
    read: async (address, signal) => (await (reader ??= load())).read(address, signal),
    close: async () => (await reader)?.close(),
  };
}

/** Each build is a trace of its own. */
function traced(requests: BuildRequests, traces: Traces | undefined): BuildRequests {
  if (traces === undefined) return requests;
  return {
    serve: (calls) =>
      requests.serve({
        ...calls,
        build: async (request) => {
          const span = traces.start("component.build", {});
          let error: string | undefined = "failed";
          try {
            const build = await calls.build(request);
            error = undefined;
            return build;
          } finally {
            span.end({ error });
          }
        },
      }),
  };
}
