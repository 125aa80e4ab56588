import { startHttpServer } from "./packages/http-server.ts";
import { startAll } from "./packages/listen.ts";
import { namedCases } from "./packages/named-cases.ts";
import { testPackages } from "./packages/suite.ts";

/** Packages in the older versions that public components ask for, in the sandbox. */
testPackages(namedCases, async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
