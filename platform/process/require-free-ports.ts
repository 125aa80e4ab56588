import { createServer } from "node:net";
import { Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { Configuration } from "./settings/configuration.ts";
import type { ListenAddress } from "./settings/settings.ts";

const retryMs = 100;

/**
 * Checks all ports before anything starts, so that the most common mistake is reported at once, with the names of the settings.
 * @param waitMs how long a port may stay taken: role processes of a crashed start need a moment to end
 * @throws Unavailable with a line for each setting whose address cannot be used
 */
export async function requireFreePorts({ roles, listen, ingressListen }: Configuration, waitMs: number): Promise<void> {
  const requireAll = async (): Promise<void> => {
    const failures = [
      roles.includes("api") ? await failureOf("HEADWATER_LISTEN", listen) : undefined,
      roles.includes("ingress") ? await failureOf("HEADWATER_INGRESS_LISTEN", ingressListen) : undefined,
    ].filter((failure) => failure !== undefined);
    if (failures.length === 0) return;
    const lines = failures.map(({ line }) => line);
    throw new Unavailable(lines.join("\n"), { code: "address_unavailable", cause: failures[0]?.cause });
  };
  await retry(requireAll, { firstMs: retryMs, withinMs: waitMs });
}

interface PortFailure {
  readonly line: string;
  readonly cause: Error;
}

/** Why nothing can listen at the address; undefined if it can. */
function failureOf(setting: string, { host, port }: ListenAddress): Promise<PortFailure | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "another process listens there" : cause.message;
      resolve({ line: `cannot listen on ${host}:${port}: ${reason}; stop it, or set ${setting} to another host:port`, cause });
    });
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
