import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "../support/dns-server.ts";
import { messageOf, sendEmail } from "../support/send-email.ts";
import { steadyPort } from "../support/steady-port.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";
import { step } from "./support/workflow-steps.ts";

/** A whole installation that receives emails. */
let directory: TemporaryDirectory;
let headwater: Headwater;
let dns: DnsServer;
let port = 0;

beforeAll(async () => {
  directory = await temporaryDirectory("emails");
  port = await steadyPort();
  dns = await startDnsServer();
  dns.records = { "TXT example.com": ["v=spf1 ip4:127.0.0.1 -all"], "TXT _dmarc.example.com": ["v=DMARC1; p=reject"] };
  const env = { HEADWATER_EMAIL_DOMAIN: "in.test", HEADWATER_EMAIL_LISTEN: `127.0.0.1:${port}`, HEADWATER_EMAIL_DNS: dns.address };
  headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env });
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await dns.stop();
  await directory.remove();
});

interface Run {
  readonly id: string;
  readonly status: string;
  readonly trigger: string;
  readonly steps: readonly { readonly return_value: unknown }[];
}

it("an email starts a run of the workflow with that address, and of no other, and has its sender checked", async () => {
  const create = async (name: string) => {
    const code =
      "const { subject, attachments, authentication } = steps.trigger.event; return [subject, attachments[0].size, authentication.dmarc];";
    const given = { name, triggers: [{ type: "email" }], steps: [step("read", code)] };
    const { status, body, text } = await headwater.call<{ data: { id: string; triggers: { address: string }[] } }>(
      "POST",
      "/workflows",
      given,
    );
    expect(status, text).toBe(200);
    return { id: body.data.id, address: body.data.triggers[0]?.address ?? "" };
  };
  const [orders, other] = [await create("Orders"), await create("Other")];
  expect(orders.address).toMatch(/^[0-9a-z]{32}@in\.test$/);
  const raw = messageOf("Order 7", { attachments: [5] });
  expect(await sendEmail(port, { to: ["unknown@in.test"], raw })).toMatchObject({ code: 550 });
  expect(await sendEmail(port, { to: [orders.address], raw })).toBe(undefined);
  const runsOf = async (id: string): Promise<readonly Run[]> =>
    (await headwater.call<{ data: readonly Run[] }>("GET", `/workflows/${id}/runs`)).body.data;
  await until(async () => (await runsOf(orders.id))[0]?.status === "succeeded", "the run has ended");
  const [run] = await runsOf(orders.id);
  const { data } = (await headwater.call<{ data: Run }>("GET", `/workflows/${orders.id}/runs/${run?.id ?? ""}`)).body;
  expect([data.trigger, data.steps[0]?.return_value]).toEqual([
    "email",
    ["Order 7", 5, { result: "pass", domain: "example.com", policy: "reject" }],
  ]);
  expect(await runsOf(other.id)).toEqual([]);
});
