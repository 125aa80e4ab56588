import { moreServiceCases } from "./more-service-cases.ts";
import { serviceCases } from "./service-cases.ts";
import { startHttpServer } from "./servers/http-server.ts";
import { startAll } from "./servers/listen.ts";
import { testPackages } from "./suite.ts";

/** Clients that services give out, installed from the registry and bundled by the builder, in the sandbox. */
testPackages([...serviceCases, ...moreServiceCases], async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
