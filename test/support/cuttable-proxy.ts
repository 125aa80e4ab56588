import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy on 127.0.0.1 whose connections can be cut or held up. */
export interface CuttableProxy {
  readonly port: number;
  /** Resets all connections. New connections work. */
  cut(): void;
  /** Drops all data of current connections silently, like a router that has lost its state. New connections work. */
  hush(): void;
  /** Holds up all data of current connections until `release`. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

/** @param port of its own; absent: any free one */
export async function startProxy(targetPort: number, port = 0): Promise<CuttableProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    const far = connect(targetPort, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const [one, other] of [pair, [far, near] as const]) {
      one.on("error", () => undefined);
      one.once("close", () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no port");
  const each = (act: (socket: Socket) => void): void => {
    for (const pair of pairs) pair.forEach(act);
  };
  const hold = (): void =>
    each((socket) => {
      socket.unpipe();
      socket.pause();
    });
  return {
    port: address.port,
    cut: () => each((socket) => socket.resetAndDestroy()),
    hush: hold,
    hold,
    release: () => {
      for (const [near, far] of pairs) near.pipe(far).pipe(near);
    },
    close: async () => {
      each((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
