import { dataCases } from "./packages/data-cases.ts";
import { startHttpServer } from "./packages/http-server.ts";
import { startAll } from "./packages/listen.ts";
import { moreDataCases } from "./packages/more-data-cases.ts";
import { testPackages } from "./packages/suite.ts";

/** Packages that compute, installed from the registry and bundled by the builder, in the sandbox. */
testPackages([...dataCases, ...moreDataCases], async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
