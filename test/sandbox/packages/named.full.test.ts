import { startHttpServer } from "./servers/http-server.ts";
import { startAll } from "./servers/listen.ts";
import { namedCases } from "./named-cases.ts";
import { testPackages } from "./suite.ts";

/** Packages in the older versions that public components ask for, in the sandbox. */
testPackages(namedCases, async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
