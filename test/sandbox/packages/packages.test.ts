import { dataCases } from "./data-cases.ts";
import { httpCases } from "./http-cases.ts";
import { startHttpServer } from "./servers/http-server.ts";
import { startAll } from "./servers/listen.ts";
import { testPackages } from "./suite.ts";

/** One package that computes and one that sends requests; the tables are run whole by the files beside this one. */
testPackages(
  [dataCases[0], httpCases.find((each) => each.package === "got")].filter((each) => each !== undefined),
  async () => {
    const { ports, stop } = await startAll({ http: startHttpServer });
    return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
  },
);
