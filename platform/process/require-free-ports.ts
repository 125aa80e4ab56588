import { createServer } from "node:net";
import { Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { Configuration } from "./settings/configuration.ts";
import type { ListenAddress } from "./settings/settings.ts";

const retryMs = 100;

/**
 * Checks the ports before anything starts, so that the most common mistake is reported at once, with the name of the setting.
 * @param waitMs how long a port may stay taken: role processes of a crashed start need a moment to end
 * @throws Unavailable with the setting and its address
 */
export async function requireFreePorts({ roles, listen, ingressListen }: Configuration, waitMs: number): Promise<void> {
  const requireAll = async (): Promise<void> => {
    if (roles.includes("api")) await requireFree("HEADWATER_LISTEN", listen);
    if (roles.includes("ingress")) await requireFree("HEADWATER_INGRESS_LISTEN", ingressListen);
  };
  await retry(requireAll, { firstMs: retryMs, withinMs: waitMs });
}

function requireFree(setting: string, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "another process listens there" : cause.message;
      reject(
        new Unavailable(`cannot listen on ${host}:${port}: ${reason}; stop it, or set ${setting} to another host:port`, {
          code: "address_unavailable",
          cause,
        }),
      );
    });
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
