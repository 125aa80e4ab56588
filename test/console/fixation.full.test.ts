import { beforeAll, describe, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { chromiumPath } from "./support/browser.ts";
import { withConsole } from "./support/console.ts";

const world = withConsole();

interface Created {
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}

/** Answers with the cookies and the script that a request asks for, as an attacker's component may. */
const attack = `export default {
  name: "Attack",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ query }) {
    const headers = { "content-type": "text/html", ...(query.header ? { "set-cookie": query.header } : {}) };
    this.http.respond({ status: 200, headers, body: "<title>Attack</title><script>document.cookie = " + JSON.stringify(query.script ?? "a=1") + "</script>" });
  },
};
`;

let endpoint: string;
/** The cookie of a session of the attacker. */
let planted: string;

/** Visits the attacker's page, which is on the host of the console, in this browser. */
async function visit(context: BrowserContext, query: Readonly<Record<string, string>>): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${endpoint}?${new URLSearchParams(query).toString()}`);
  await page.waitForFunction("document.title === 'Attack'");
  return page;
}

describe.skipIf(chromiumPath === undefined)("a page of a component on the host of the console", () => {
  beforeAll(async () => {
    const source = await world.api<Created>("POST", "/sources", { component_code: attack, name: "Attack" });
    endpoint = source.configured_props.http.endpoint_url;
    const { key } = await world.api<{ readonly key: string }>("POST", "/users/me/keys", { name: "of the attacker" });
    const response = await fetch(`${world.url}/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key: key }),
    });
    planted = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(planted).toMatch(/^headwater_session=/);
  });

  test.each([
    ["a script", (cookie: string) => ({ script: `${cookie}; path=/` })],
    ["a cookie without a name, by a header", (cookie: string) => ({ header: `=${cookie}; Path=/` })],
    ["a cookie without a name, by a script", (cookie: string) => ({ script: `=${cookie}; path=/` })],
    ["a header", (cookie: string) => ({ header: `${cookie}; Path=/` })],
  ])("cannot sign the browser in with its own session, by %s", async (_how, queryOf) => {
    const page = await world.open("/sign-in", { isSignedOut: true });
    await visit(page.context(), queryOf(planted));
    await page.goto(`${world.url}/sources`);
    await page.getByLabel("API key").waitFor();
    await page.getByLabel("API key").fill(world.user.key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
  });

  test("cannot replace a session: beside another cookie, requests are refused with the reason", async () => {
    const page = await world.open("/sources");
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    await visit(page.context(), { script: `${planted}; path=/v1` });
    await page.reload();
    await page
      .getByText(/the request has 2 cookies headwater_session/)
      .first()
      .waitFor();
  });
});
