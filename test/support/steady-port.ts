import { createServer } from "node:net";

/** Below the ephemeral range, so that the system gives the port to no other process while it is free. */
const [lowest, count] = [20_000, 12_000];

/** A port on 127.0.0.1 for a server that starts later or restarts. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
