import { httpCases } from "./http-cases.ts";
import { startHttpServer } from "./servers/http-server.ts";
import { startAll } from "./servers/listen.ts";
import { startProxy } from "./servers/proxy.ts";
import { testPackages } from "./suite.ts";
import { startWebSocket } from "./servers/websocket.ts";

/** Clients of HTTP, installed from the registry and bundled by the builder, in the sandbox. */
testPackages(httpCases, async () => {
  const { ports, stop } = await startAll({ http: startHttpServer, proxy: startProxy, websocket: startWebSocket });
  return {
    servers: { ...ports, http: `http://127.0.0.1:${ports.http}`, websocket: `ws://127.0.0.1:${ports.websocket}/chat` },
    stop,
  };
});
