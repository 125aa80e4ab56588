import { createServer } from "node:net";
import { Unavailable } from "../../domain/errors.ts";

/** A port on 127.0.0.1 that was free a moment ago; callers must handle losing the race. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => (port > 0 ? resolve(port) : reject(new Unavailable("the system gave no free port"))));
    });
  });
}
