import { httpCases } from "./packages/http-cases.ts";
import { startHttpServer } from "./packages/http-server.ts";
import { startAll } from "./packages/listen.ts";
import { startProxy } from "./packages/proxy.ts";
import { testPackages } from "./packages/suite.ts";
import { startWebSocket } from "./packages/websocket.ts";

/** Clients of HTTP, installed from the registry and bundled by the builder, in the sandbox. */
testPackages(httpCases, async () => {
  const { ports, stop } = await startAll({ http: startHttpServer, proxy: startProxy, websocket: startWebSocket });
  return {
    servers: { ...ports, http: `http://127.0.0.1:${ports.http}`, websocket: `ws://127.0.0.1:${ports.websocket}/chat` },
    stop,
  };
});
