import { join } from "node:path";
import type { Addresses } from "../../builder/ports.ts";
import { codeLimits } from "../../domain/component/component-code.ts";
import { createEgress, type Egress } from "../../platform/http/egress.ts";
import { openBundleStore } from "../../platform/jetstream/bundles/bundle-store.ts";
import { serveBuildRequests } from "../../platform/jetstream/requests/build-requests.ts";
import { sandboxCache } from "../../platform/process/settings/sandbox-size.ts";
import { tracedBuilds } from "../../platform/telemetry/traced-builds.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import type { Sandbox } from "../../runner/sandbox/port.ts";
import { openNats } from "../connections.ts";
import { confineBuilder } from "./builder-jail.ts";
import type { RoleContext, StartedRole } from "../context.ts";

/** Timeout of one request for the text of a component. */
const readTimeoutMs = 10_000;

export async function start(context: RoleContext): Promise<StartedRole> {
  const opened = new AsyncDisposableStack();
  const connection = await openNats(context, opened);
  const directory = join(context.dataDirectory, "builder");
  const sandbox = sandboxOnDemand(context, directory);
  const addresses = addressesOnDemand(createEgress({ allow: context.configuration.egressAllow }));
  opened.defer(() => addresses.close());
  const confine = await confineBuilder({ ...context.configuration, logger: context.logger }, directory);
  const { startBuilder } = await import("../../builder/start.ts"); // It loads esbuild's library.
  const builder = await startBuilder({
    directory,
    confine,
    inspector: { inspect: async (request) => (await sandbox.get()).inspect(request) },
    bundles: openBundleStore(connection),
    addresses,
    requests: tracedBuilds({ serve: (calls) => serveBuildRequests(connection.nats, calls) }, context.traces),
  });
  return {
    stop: async (signal) => {
      await builder.stop();
      await sandbox.stop(signal);
      await opened.disposeAsync();
    },
  };
}

/** Starts with the first build. One child is enough: definitions are read one at a time, and no state of their code is kept. */
function sandboxOnDemand(context: RoleContext, directory: string) {
  let sandbox: Promise<Sandbox> | undefined;
  const startSandbox = () =>
    createSandbox({
      cacheDirectory: sandboxCache(context),
      bundleDirectory: directory,
      children: 1,
      ownerProcesses: Math.min(1, context.configuration.sandboxOwners),
      jail: context.configuration.sandboxJail,
      egress: createEgress({ allow: [] }),
      memoryBudgetMb: 64,
      logger: context.logger,
    });
  return {
    get: (): Promise<Sandbox> =>
      (sandbox ??= startSandbox().catch((error: unknown) => {
        sandbox = undefined;
        throw error;
      })),
    stop: async (signal: AbortSignal): Promise<void> => (await sandbox)?.stop(signal),
  };
}

/** Loads the HTTP client when the first component has to be fetched: the code of most components is in the request. */
function addressesOnDemand(egress: Egress): Addresses & { close(): Promise<void> } {
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
