import { describe, expect, it } from "vitest";
import type { IncomingMessage, ServerResponse } from "node:http";
import { registered } from "../../support/oauth-provider.ts";
import { redirectUri, withConnecting } from "./connect-support.ts";
import { acme, keys, publicUrl } from "./support.ts";

const { api, provider, ask, addApp, start, outcome, open, post, click } = withConnecting();

/** Signs in to the console. @returns headers of its browser */
async function signIn(key: string) {
  const answer = await api.ask("POST", "/console/session", { key: null, body: { api_key: key } });
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { cookie, "x-headwater-csrf": String(answer.body.data.csrf_token) };
}

const startInConsole = async (slug: string, headers: Readonly<Record<string, string>>) =>
  (await api.ask("POST", `/v1/apps/${slug}/connect`, { key: null, body: {}, headers })).body.data as { connection_id: string; url: string };

describe("a state", () => {
  it("is refused when it is forged, missing or too long, and reveals nothing", async () => {
    const states = ["x".repeat(43), "", "x".repeat(10_000), "../../etc/passwd"];
    for (const state of states) {
      const page = await open(new URL(`${redirectUri}?code=c&state=${encodeURIComponent(state)}`));
      expect(page.status).toBe(401);
      expect(page.text).toContain("start again");
    }
    expect((await open(new URL(`${redirectUri}?code=c`))).status).toBe(401);
  });

  it("works once: a second request shows the outcome and exchanges nothing", async () => {
    const { connection_id: id, url } = await start(await addApp());
    const back = provider.signIn(url, redirectUri);
    await click(back);
    const before = provider.tokenRequests.length;
    const again = await Promise.all([click(back), click(back), open(back)]);
    expect(again.every(({ status }) => status === 200)).toBe(true);
    expect(provider.tokenRequests.length).toBe(before);
    expect(await outcome(id)).toMatchObject({ status: "connected" });
  });

  it("is taken by one of many requests at once", async () => {
    const { connection_id: id, url } = await start(await addApp());
    const back = provider.signIn(url, redirectUri);
    const before = provider.tokenRequests.length;
    await Promise.all(Array.from({ length: 8 }, () => click(back)));
    expect(provider.tokenRequests.length).toBe(before + 1);
    expect(await outcome(id)).toMatchObject({ status: "connected" });
  });
});

describe("a connection of the console", () => {
  it("is finished by its own browser without a click, after the page has loaded itself once more", async () => {
    const browser = await signIn(keys.ada);
    const { connection_id: id, url } = await startInConsole(await addApp(), browser);
    const back = provider.signIn(url, redirectUri);
    const first = await open(back);
    expect(first.text).toContain('http-equiv="refresh"');
    expect(await outcome(id)).toMatchObject({ status: "pending" });
    const second = await open(new URL(`${back.href}&again=1`), { cookie: browser.cookie });
    expect([second.status, second.text]).toEqual([200, expect.stringContaining("is connected")]);
    expect(await outcome(id)).toMatchObject({ status: "connected" });
  });

  it("is finished too when the service answers with a POST", async () => {
    const browser = await signIn(keys.ada);
    const { connection_id: id, url } = await startInConsole(await addApp(), browser);
    const first = await post(provider.signIn(url, redirectUri));
    const second = /url=([^"]+)"/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    await open(new URL(second, redirectUri), { cookie: browser.cookie });
    expect(await outcome(id)).toMatchObject({ status: "connected" });
  });

  it.each([
    ["another browser of the same user", keys.ada],
    ["another user", keys.bob],
  ])("is not finished by %s", async (_who, key) => {
    const { connection_id: id, url } = await startInConsole(await addApp(), await signIn(keys.ada));
    const back = provider.signIn(url, redirectUri);
    const { cookie } = await signIn(key);
    for (const page of [await open(back, { cookie }), await click(back, { cookie }), await open(new URL(`${back.href}&again=1`))])
      expect([page.status, page.text]).toEqual([400, expect.stringContaining("another browser")]);
    expect(await outcome(id)).toMatchObject({ status: "pending" });
  });
});

describe("a connection that an API key began", () => {
  it("is not finished in a browser in which another user is signed in", async () => {
    const { connection_id: id, url } = await start(await addApp());
    const page = await click(provider.signIn(url, redirectUri), { cookie: (await signIn(keys.bob)).cookie });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("another user")]);
    expect(await outcome(id)).toMatchObject({ status: "pending" });
  });

  it("changes nothing before a click", async () => {
    const { url } = await start(await addApp());
    const before = provider.tokenRequests.length;
    await open(provider.signIn(url, redirectUri));
    expect(provider.tokenRequests.length).toBe(before);
  });

  it("is not finished by a POST of the service, or by the confirmation of another answer", async () => {
    const { connection_id: id, url } = await start(await addApp());
    const back = provider.signIn(url, redirectUri);
    const before = provider.tokenRequests.length;
    const page = await post(back);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("did not begin this")]);
    const own = new URL(back);
    own.searchParams.set("code", "a-code-of-the-attacker");
    const confirm = /name="confirm" value="(\w+)"/.exec((await open(own)).text)?.[1] ?? "";
    const forged = new URL(back);
    forged.searchParams.set("confirm", confirm);
    expect((await post(forged)).text).toContain("did not begin this");
    expect(provider.tokenRequests.length).toBe(before);
    expect(await outcome(id)).toMatchObject({ status: "pending" });
  });
});

describe("what a service sends back", () => {
  it.each([
    ["access_denied", "access_denied", "did not allow access"],
    ["invalid_scope", "service_error", "scope"],
    ["server_error", "service_error", "start again later"],
    ["<script>", "service_error", "an unknown error"],
  ])("shows %s as %s, and none of its own texts", async (error, code, text) => {
    const { connection_id: id, url } = await start(await addApp());
    const page = await click(provider.refuse(url, error));
    expect([page.status, page.text]).toEqual([400, expect.stringContaining(text)]);
    expect(page.text).not.toContain("<script>");
    expect(await outcome(id)).toMatchObject({ status: "failed", problem: { code } });
  });

  it("fails with another issuer than the app names, or without one", async () => {
    for (const iss of ["https://evil.test", undefined]) {
      const { connection_id: id, url } = await start(await addApp({ issuer: "https://issuer.service.test" }));
      const back = provider.signIn(url, redirectUri);
      if (iss === undefined) back.searchParams.delete("iss");
      else back.searchParams.set("iss", iss);
      await click(back);
      expect(await outcome(id)).toMatchObject({ status: "failed", problem: { code: "issuer_mismatch" } });
    }
  });

  it("fails with the issuer of another service when the app names none", async () => {
    const { connection_id: id, url } = await start(await addApp());
    const back = provider.signIn(url, redirectUri);
    back.searchParams.set("iss", "https://evil.test");
    await click(back);
    expect(await outcome(id)).toMatchObject({ status: "failed", problem: { code: "issuer_mismatch" } });
    const again = await start(await addApp());
    const own = provider.signIn(again.url, redirectUri);
    own.searchParams.set("iss", provider.origin);
    await click(own);
    expect(await outcome(again.connection_id)).toMatchObject({ status: "connected" });
  });

  it("redirects nowhere, whatever the request asks for", async () => {
    const { url } = await start(await addApp());
    const back = provider.signIn(url, redirectUri);
    for (const name of ["redirect_uri", "next", "return_to", "url"]) back.searchParams.set(name, "https://evil.test");
    const page = await click(back);
    expect(page.headers.get("location")).toBeNull();
    expect(page.text).not.toContain("evil.test");
  });
});

describe("the secret of a client", () => {
  it("goes to no address that the app got afterwards, until the secret is given again", async () => {
    const slug = await addApp();
    const elsewhere = provider.origin.replace("127.0.0.1", "127.0.0.2");
    expect((await ask("PUT", `/v1/apps/${slug}`, { oauth: { revocation_url: `${elsewhere}/revoke` } })).status).toBe(200);
    const before = provider.tokenRequests.length;
    const refused = await start(slug);
    await click(provider.signIn(refused.url, redirectUri));
    expect(await outcome(refused.connection_id)).toMatchObject({
      problem: { code: "client_changed", message: expect.stringContaining("give the secret again") },
    });
    expect(provider.tokenRequests.length).toBe(before);
    const { id } = (await ask("GET", `/v1/users/me/oauth_clients?app=${slug}`)).body.data[0];
    const { clientId: client_id, clientSecret: client_secret } = registered;
    for (const [change, status] of [
      [{ client_id }, "failed"],
      [{ client_secret }, "connected"],
    ] as const) {
      expect((await ask("PUT", `/v1/oauth_clients/${id}`, change)).status).toBe(200);
      const again = await start(slug);
      await click(provider.signIn(again.url, redirectUri));
      expect(await outcome(again.connection_id)).toMatchObject({ status });
    }
  });
});

describe("a token endpoint", () => {
  const fails = async (instead: (request: IncomingMessage, response: ServerResponse) => void, oauth: object = {}) => {
    const { connection_id: id, url } = await start(await addApp({}, oauth));
    const back = provider.signIn(url, redirectUri);
    provider.instead = instead;
    try {
      const page = await click(back);
      expect(page.status).toBe(400);
      return (await outcome(id)).problem as { code: string; message: string };
    } finally {
      provider.instead = undefined;
    }
  };

  it("that answers HTML gives no account", async () => {
    const problem = await fails((_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>hi</html>"));
    expect(problem).toMatchObject({ code: "token_endpoint_unavailable", message: expect.stringContaining("without an access_token") });
  });

  it("that answers without an end is left", async () => {
    const problem = await fails((_request, response) => {
      response.writeHead(200);
      response.write("{");
    });
    expect(problem).toMatchObject({ code: "token_endpoint_unavailable", message: expect.stringContaining("2 s") });
  });

  it("that answers megabytes is left", async () => {
    const problem = await fails((_request, response) => response.writeHead(200).end(`{"access_token":"${"x".repeat(2 ** 20)}"}`));
    expect(problem.code).toBe("token_endpoint_unavailable");
  });

  it("that redirects to a private address is not followed", async () => {
    const problem = await fails((_request, response) => response.writeHead(307, { location: "http://10.0.0.1/token" }).end());
    expect(problem).toMatchObject({ code: "token_refused", message: expect.stringContaining("not followed") });
  });

  it("at a private address is not reached, and the error names no address behind a name", async () => {
    const problem = await fails(() => undefined, { token_url: "http://10.0.0.1/token" });
    expect(problem).toMatchObject({ code: "token_refused", message: expect.stringContaining("10.0.0.1") });
  });

  it("that refuses the code is named, without its own texts", async () => {
    const problem = await fails((_request, response) =>
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant","error_description":"SECRET"}'),
    );
    expect(problem).toMatchObject({ code: "token_refused", message: expect.not.stringContaining("SECRET") });
  });
});

describe("accounts of others", () => {
  it("are not connected again: by id, by organization, or of another app", async () => {
    const slug = await addApp();
    const of = async (key: string) =>
      (await ask("POST", "/v1/accounts", { app: slug, credentials: { a: "b" } }, key)).body.data.id as string;
    const [bobs, mine] = [await of(keys.bob), await of(keys.ada)];
    expect((await ask("POST", `/v1/accounts/${bobs}/reconnect`, {})).status).toBe(404);
    expect((await ask("POST", `/v1/apps/${slug}/connect`, { account_id: bobs })).status).toBe(404);
    expect((await ask("POST", `/v1/apps/github/connect`, { account_id: mine })).status).toBe(422);
    expect((await ask("POST", `/v1/apps/${slug}/connect?org_id=o_others`, {})).status).toBe(403);
    expect(acme.id).not.toBe("o_others");
  });

  it("get nothing when the account is deleted while its owner signs in", async () => {
    const slug = await addApp();
    const { id } = (await ask("POST", "/v1/accounts", { app: slug, credentials: { a: "b" } })).body.data;
    const { body } = await ask("POST", `/v1/accounts/${id}/reconnect`, {});
    const back = provider.signIn(body.data.url, redirectUri);
    await ask("DELETE", `/v1/accounts/${id}`);
    await click(back);
    expect(await outcome(body.data.connection_id)).toMatchObject({ status: "failed", problem: { code: "account_deleted" } });
    expect(publicUrl).toBeDefined();
  });
});
