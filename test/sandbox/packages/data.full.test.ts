import { dataCases } from "./data-cases.ts";
import { startHttpServer } from "./servers/http-server.ts";
import { startAll } from "./servers/listen.ts";
import { moreDataCases } from "./more-data-cases.ts";
import { testPackages } from "./suite.ts";

/** Packages that compute, installed from the registry and bundled by the builder, in the sandbox. */
testPackages([...dataCases, ...moreDataCases], async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
