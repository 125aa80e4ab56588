import { createServer } from "node:net";
import { Unavailable } from "../../domain/errors.ts";
import type { Configuration } from "./configuration.ts";

/**
 * Tried before anything is started, so that the commonest mistake is told at once and in the words of the settings.
 *
 * @throws Unavailable naming the setting and its address.
 */
export async function requireFreePorts({ roles, listen, ingressListen }: Configuration): Promise<void> {
  if (roles.includes("api")) await requireFree("HEADWATER_LISTEN", listen);
  if (roles.includes("ingress")) await requireFree("HEADWATER_INGRESS_LISTEN", ingressListen);
}

function requireFree(setting: string, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
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
