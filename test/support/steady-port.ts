import { createServer } from "node:net";

/** Below those that systems give to whoever asks for any, so that it stays free while nobody listens on it. */
const [lowest, count] = [20_000, 12_000];

/** A port on 127.0.0.1 for a server that is started later, or goes and comes back. */
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
