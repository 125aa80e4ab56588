import { createServer } from "node:net";

/** Below the ephemeral range, so that the system gives the port to no other process while it is free. */
const lowest = 20_000;
/** Each worker of a run has ports of its own: a port that it has chosen may not be listened on yet, so others would find it free. */
const portsPerWorker = 1_500;
const workers = 8;

const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % workers;
let next = Math.floor(Math.random() * portsPerWorker);

/** A port on 127.0.0.1 for a server that starts later or restarts. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    next = (next + 1) % portsPerWorker;
    const port = lowest + worker * portsPerWorker + next;
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
