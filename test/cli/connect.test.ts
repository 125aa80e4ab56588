import { afterAll, beforeAll, expect, it } from "vitest";
import type { Account } from "../../client/generated/operations.ts";
import { OauthProvider, registered } from "../support/oauth-provider.ts";
import { startHw, type RunningHw } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();
const provider = new OauthProvider();

beforeAll(async () => {
  await provider.start();
  const { origin } = provider;
  const oauth = {
    authorization_url: `${origin}/authorize`,
    token_url: `${origin}/token`,
    test_url: `${origin}/me`,
    test_name: "user.name",
  };
  await headwater.call("POST", "/apps", {
    name_slug: "service",
    name: "The Service",
    auth_type: "oauth",
    oauth: { ...oauth, scopes: ["read", "write"] },
  });
  const client = { app: "service", client_id: registered.clientId, client_secret: registered.clientSecret };
  expect((await headwater.call("POST", "/oauth_clients", client)).status).toBe(200);
});
afterAll(() => provider.stop());

const start = (...args: readonly string[]): RunningHw => startHw(headwater.world, ["accounts", ...args, "--print"]);
const accounts = async () => (await headwater.call<{ data: readonly Account[] }>("GET", "/users/me/accounts")).body.data;

/** The address that `hw` prints, at which the person then signs in. */
async function printed(running: RunningHw): Promise<{ readonly address: string; readonly redirectUri: string }> {
  await running.untilPrinted(/^http\S+$/m);
  const [address = ""] = /^http\S+$/m.exec(running.stdout()) ?? [];
  return { address, redirectUri: new URL(address).searchParams.get("redirect_uri") ?? "" };
}

/** The browser comes back, shows whose account it will be, and the person clicks. */
async function comeBack(back: URL): Promise<string> {
  const page = await (await fetch(back)).text();
  const confirm = /name="confirm" value="(\w+)"/.exec(page)?.[1] ?? "";
  const body = new URLSearchParams([...back.searchParams, ["confirm", confirm]]);
  return (await fetch(back.origin + back.pathname, { method: "POST", body })).text();
}

it("prints the address, waits for the person, and names the account and the scopes that were withheld", async () => {
  provider.quirks = { rotates: true, withheld: ["write"] };
  const running = start("connect", "service", "--name", "Team");
  const { address, redirectUri } = await printed(running);
  expect(await comeBack(provider.signIn(address, redirectUri))).toContain("The Service is connected");
  const { code, stdout } = await running.ended();
  const [account] = await accounts();
  expect(account).toMatchObject({ name: "Team", connection: { name: "Ada at the service", scopes: ["read"] } });
  expect([code, stdout]).toEqual([0, expect.stringContaining(`account ${account?.id} connected, without the scopes write\n`)]);
});

it("connects an account again, by its name, and keeps its id", async () => {
  provider.quirks = { rotates: true };
  const [before] = await accounts();
  const running = start("reconnect", "Team", "--scope", "read");
  const { address, redirectUri } = await printed(running);
  expect(new URL(address).searchParams.get("scope")).toBe("read");
  await comeBack(provider.signIn(address, redirectUri));
  expect(await running.ended()).toMatchObject({ code: 0, stdout: expect.stringContaining(`account ${before?.id} connected\n`) });
  const after = await accounts();
  expect(after).toMatchObject([{ id: before?.id, name: "Team" }]);
  expect(after[0]?.connection?.connected_at).not.toBe(before?.connection?.connected_at);
});

it("ends with the reason when the person refuses, and when there is no such app or account", async () => {
  const running = start("connect", "service");
  const { address } = await printed(running);
  await comeBack(provider.refuse(address));
  expect(await running.ended()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^hw: .*did not allow access/) });
  expect((await start("connect", "no-such-app").ended()).stderr).toContain("there is no app 'no-such-app'");
  expect(await start("reconnect", "no-such-account").ended()).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no account "no-such-account"'),
  });
  expect(await accounts()).toHaveLength(1);
});

it("ends at once when it is interrupted, and the address stays valid", async () => {
  const running = start("connect", "service");
  const { address, redirectUri } = await printed(running);
  running.interrupt();
  expect((await running.ended()).code).toBe(130);
  expect(await comeBack(provider.signIn(address, redirectUri))).toContain("The Service is connected");
  expect(await accounts()).toHaveLength(2);
});

it("connects an account of a client with its secret, says when the service refuses it, and takes another one", async () => {
  provider.quirks = { clientScopes: ["read"] };
  const oauth = { grant: "client_credentials", token_url: `${provider.origin}/token`, scopes: ["read"] };
  await headwater.call("POST", "/apps", { name_slug: "depot", name: "Depot", auth_type: "oauth", oauth });
  const client = ["--client-id", registered.clientId, "--client-secret"];
  const run = (...args: readonly string[]) => startHw(headwater.world, ["accounts", ...args]).ended();
  const connected = await run("connect", "depot", "--name", "Stock", ...client, registered.clientSecret);
  expect(connected).toMatchObject({ code: 0, stdout: expect.stringMatching(/account apn_\w+ connected/) });
  const refused = await run("reconnect", "Stock", "--client-secret", "wrong");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("(invalid_client)") });
  expect((await run("reconnect", "Stock")).stderr).toContain("--client-secret");
  expect((await run("reconnect", "Stock", "--client-secret", registered.clientSecret)).code).toBe(0);
  expect((await run("connect", "depot")).stderr).toContain("app 'depot' has no OAuth client of yours");
  const stock = (await accounts()).filter(({ name }) => name === "Stock");
  expect(stock).toMatchObject([{ healthy: true, needs_reconnect: false, grant_type: "client_credentials" }]);
});
