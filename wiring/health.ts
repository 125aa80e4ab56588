import { Unavailable } from "../domain/errors.ts";
import type { Configuration } from "../platform/process/settings/configuration.ts";
import { startHealthServer } from "../platform/telemetry/health-server.ts";
import { processMetrics } from "../platform/telemetry/metrics.ts";
import { checkConnections } from "./connections.ts";
import type { RoleContext, StartedRole } from "./context.ts";

/** The answers of this process to probes. */
export interface Health {
  /** From now on the process is ready while its connections are up and all its roles are ready. */
  started(roles: readonly Pick<StartedRole, "checkReady">[], context: RoleContext): void;
  /** From now on the process is alive and not ready. */
  drains(): void;
  stop(): Promise<void>;
}

const notServed: Health = { started: () => undefined, drains: () => undefined, stop: () => Promise.resolve() };

/** Serves probes before the roles start, so that a slow start does not look like a dead process. @throws Unavailable when the address is in use */
export async function startHealth(listen: Configuration["healthListen"]): Promise<Health> {
  if (listen === undefined) return notServed;
  let check = (): Promise<void> => Promise.reject(new Unavailable("starting"));
  const server = await startHealthServer({ listen, registry: processMetrics(), checkReady: () => check() });
  return {
    started: (roles, context) => {
      check = async () => {
        await checkConnections(context);
        for (const role of roles) await role.checkReady?.();
      };
    },
    drains: () => {
      check = () => Promise.reject(new Unavailable("draining"));
    },
    stop: () => server.stop(),
  };
}
