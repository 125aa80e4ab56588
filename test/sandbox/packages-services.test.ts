import { moreServiceCases } from "./packages/more-service-cases.ts";
import { serviceCases } from "./packages/service-cases.ts";
import { startHttpServer } from "./packages/http-server.ts";
import { startAll } from "./packages/listen.ts";
import { testPackages } from "./packages/suite.ts";

/** Clients that services give out, installed from the registry and bundled by the builder, in the sandbox. */
testPackages([...serviceCases, ...moreServiceCases], async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
