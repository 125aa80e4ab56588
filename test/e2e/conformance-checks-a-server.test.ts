import { afterAll, beforeAll, expect, it } from "vitest";
import { conformance as command } from "../../scripts/conformance/command.ts";
import { startHostedService, type HostedService } from "../support/hosted-service.ts";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";

/** Runs the command of `npm run conformance` against Headwater, and against a server that only implements lists. */
const headwater = withSystem();
let poor: HostedService;

beforeAll(async () => {
  poor = await startHostedService({ components: {}, sources: [], webhooks: [], subscriptions: [] });
});
afterAll(async () => {
  await poor.stop();
});

async function conformance(...flags: readonly string[]): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  return { code: await command(flags, { print, printError: print }), lines };
}

it("reports every rule as kept by Headwater, and removes everything it created", async () => {
  const { code, lines } = await conformance(
    "--url",
    headwater.apiUrl,
    "--key",
    headwater.key,
    "--admin-token-file",
    headwater.adminTokenFile,
  );
  expect(lines.filter((line) => !line.startsWith("kept"))).toEqual([
    `${lines.length - 1} of ${lines.length - 1} rules are kept, 0 are broken, 0 could not be asked`,
  ]);
  expect(lines.length).toBeGreaterThan(60);
  expect(code).toBe(0);
  for (const kind of ["sources", "webhooks", "subscriptions", "components", "accounts"])
    expect([kind, (await headwater.call<{ data: unknown[] }>("GET", `/${kind}`)).body.data]).toEqual([kind, []]);
  expect((await headwater.call<{ data: { orgs: unknown[] } }>("GET", "/users/me")).body.data.orgs).toEqual([]);
});

it("checks only the specification with --only specification", async () => {
  const { code, lines } = await conformance("--url", headwater.apiUrl, "--key", headwater.key, "--only", "specification");
  expect(code).toBe(0);
  expect(lines.slice(0, -1).every((line) => line.includes("| specification |"))).toBe(true);
  const mistaken = await conformance("--url", headwater.apiUrl, "--key", headwater.key, "--only", "nothing");
  expect([mistaken.code, mistaken.lines[0]]).toEqual([2, expect.stringContaining("specification, clients, headwater")]);
});

it("makes Headwater count its requests in metrics and record all of them", async () => {
  const metrics = async (): Promise<string> => (await fetch(new URL("/metrics", headwater.apiUrl))).text();
  await until(async () => (await metrics()).includes('headwater_delivery_backlog{state="unrecorded"} 0\n'), "everything is recorded");
  const text = await metrics();
  for (const state of ["unrouted", "due", "scheduled"]) expect(text).toContain(`headwater_delivery_backlog{state="${state}"}`);
  expect(text).toMatch(/^headwater_endpoint_request_duration_seconds_count\{status="201"\} [1-9]/m);
});

it("reports the rules that another server breaks", async () => {
  const { code, lines } = await conformance("--url", poor.url, "--key", poor.key);
  expect(code).toBe(1);
  const isListed = (outcome: string, name: string): boolean => lines.some((line) => line.startsWith(outcome) && line.includes(` ${name} `));
  expect(isListed("kept", "a request without a key is refused")).toBe(true);
  expect(isListed("broken", "POST /components saves code")).toBe(true);
  expect(isListed("not asked", "GET /components/{id} and /components/{key}")).toBe(true);
});

it("names the missing flag", async () => {
  const { code, lines } = await conformance("--url", poor.url);
  expect([code, lines[0]]).toEqual([2, expect.stringContaining("--key")]);
});
