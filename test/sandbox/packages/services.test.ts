import { isSoak } from "../../support/soak.ts";
import { moreServiceCases } from "./more-service-cases.ts";
import { serviceCases } from "./service-cases.ts";
import { startHttpServer } from "./servers/http-server.ts";
import { startAll } from "./servers/listen.ts";
import { testPackages } from "./suite.ts";

const all = [...serviceCases, ...moreServiceCases];
/** What `npm test` installs. Others bring up to 200 MB. */
const small = ["@slack/web-api", "stripe", "@octokit/core", "@aws-sdk/client-s3", "@notionhq/client", "airtable"];

/** Clients that services give out, installed from the registry and bundled by the builder, in the sandbox. */
testPackages(isSoak ? all : all.filter((each) => small.includes(each.package)), async () => {
  const { ports, stop } = await startAll({ http: startHttpServer });
  return { servers: { http: `http://127.0.0.1:${ports.http}` }, stop };
});
