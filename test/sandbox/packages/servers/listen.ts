import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on loopback; closing ends its connections too. */
export async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined); // clients hang up as they like
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Hands on what a connection says, piece by piece: `cut` gives the length of the first whole message, or undefined while it is incomplete. */
export function messages(socket: Socket, cut: (bytes: Buffer) => number | undefined, take: (message: Buffer) => void): void {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (let length = cut(waiting); length !== undefined && length <= waiting.length; length = cut(waiting)) {
      const message = waiting.subarray(0, length);
      waiting = waiting.subarray(length);
      take(message);
    }
  });
}

/** Starts servers by name; their ports by the same names. */
export async function startAll<Name extends string>(
  starts: Readonly<Record<Name, () => Promise<Listening>>>,
): Promise<{ readonly ports: Record<Name, number>; stop(): Promise<void> }> {
  const started = await Promise.all(
    Object.entries<() => Promise<Listening>>(starts).map(async ([name, start]) => [name, await start()] as const),
  );
  return {
    ports: Object.fromEntries(started.map(([name, { port }]) => [name, port])) as Record<Name, number>, // one for each name
    stop: async () => void (await Promise.all(started.map(([, { close }]) => close()))),
  };
}
