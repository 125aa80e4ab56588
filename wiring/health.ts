import { Unavailable } from "../domain/errors.ts";
import type { Configuration } from "../platform/process/settings/configuration.ts";
import { startHealthServer } from "../platform/telemetry/health-server.ts";
import { processMetrics } from "../platform/telemetry/metrics.ts";
import { checkConnections } from "./connections.ts";
import type { RoleContext, StartedRole } from "./context.ts";

/** What this process answers to probes. */
export interface Health {
  /** It is ready from now on, as long as its connections are up and its roles say so. */
  started(roles: readonly Pick<StartedRole, "checkReady">[], context: RoleContext): void;
  /** It lives and takes nothing new. */
  drains(): void;
  stop(): Promise<void>;
}

const nobodyAsks: Health = { started: () => undefined, drains: () => undefined, stop: () => Promise.resolve() };

/** Answers from the first moment on, so that a slow start is not taken for a dead process. @throws Unavailable when the address is taken */
export async function startHealth(listen: Configuration["healthListen"]): Promise<Health> {
  if (listen === undefined) return nobodyAsks;
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
