import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands for a Service: passes each new connection to one of its processes; connections that exist stay where they are. */
export interface Service {
  readonly port: number;
  add(port: number): void;
  /** New connections go to the other processes. */
  remove(port: number): void;
  stop(): void;
}

export async function startService(): Promise<Service> {
  let backends: readonly number[] = [];
  let turn = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const port = backends[turn++ % backends.length];
    const backend = connect({ host: "127.0.0.1", port: port ?? 0 });
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => client.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        backend.destroy();
      });
    }
    client.pipe(backend);
    backend.pipe(client);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port, // Listens on TCP.
    add: (port) => void (backends = [...backends, port]),
    remove: (port) => void (backends = backends.filter((other) => other !== port)),
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
