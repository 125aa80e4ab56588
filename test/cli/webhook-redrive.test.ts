import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { createWebhook, deploy, postJson, subscribe } from "../support/system/sources.ts";
import { until } from "../support/until.ts";
import { withInstallation } from "./installation.ts";

/** `hw webhooks redrive`, on a running server. */
const headwater = withInstallation();
const code = `export default { name: "Parcels", props: { http: "$.interface.http" }, run({ body }) { this.$emit(body); } };`;

let receiver: Receiver;
let status = 200;
let webhook: string;

interface Listed {
  readonly data: readonly { readonly delivery_id: string }[];
}
const dead = async (): Promise<readonly string[]> =>
  (await headwater.json<Listed>("webhooks", "dead-letters", webhook)).data.map(({ delivery_id: id }) => id);
const redrive = (...args: readonly string[]) => headwater.hw("webhooks", "redrive", webhook, ...args);

beforeAll(async () => {
  receiver = await startReceiver(() => status);
  const source = await deploy(headwater, code, {}, { name: "parcels" });
  webhook = await createWebhook(headwater, receiver.url);
  await subscribe(headwater, source.id, webhook);
  status = 500;
  // Ten failed attempts: further ones would wait for the circuit of the webhook.
  for (const n of [1, 2]) await postJson(source.endpoint, { n });
  await until(async () => (await dead()).length === 2, "two deliveries are dead");
  status = 200;
});
afterAll(() => receiver.close());

describe("hw webhooks redrive", () => {
  it("shows the number with --dry-run, and delivers nothing without a confirmation", async () => {
    const shown = await redrive("--dry-run");
    expect([shown.code, shown.stdout]).toEqual([0, `2 dead letters of ${webhook} would be delivered again\n`]);
    expect((await redrive("--until", "2h", "--dry-run")).stdout).toBe(`no dead letter of ${webhook} matches\n`);
    const json = await headwater.json("webhooks", "redrive", webhook, "--since", "2h", "--dry-run");
    expect(json).toEqual({ data: { matching: 2, queued: 0 } });
    const asked = await redrive();
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining(`Deliver 2 dead letters of ${webhook} again? needs a confirmation`),
    ]);
    expect(await dead()).toHaveLength(2);
  });

  it("delivers chosen ones without asking, and says which ids name none", async () => {
    const [chosen = ""] = await dead();
    const { code: exit, stdout } = await redrive(chosen, "em_none.sub_none");
    expect([exit, stdout]).toEqual([
      0,
      `1 dead letter of ${webhook} is delivered again; 1 of the ids name no dead letter: \`hw webhooks backlog ${webhook}\` shows what waits\n`,
    ]);
    await until(async () => (await dead()).length === 1, "one is left");
  });

  it("delivers those of a time range, and then finds none", async () => {
    const { code: exit, stdout } = await redrive("--since", "2h", "--yes");
    expect([exit, stdout]).toEqual([0, expect.stringContaining(`1 dead letter of ${webhook} is delivered again`)]);
    await until(async () => (await dead()).length === 0, "none is left");
    expect((await redrive()).stdout).toBe(`no dead letter of ${webhook} matches\n`);
  });

  it.each([
    [["--since", "soon"], /--since "soon" is invalid/],
    [["em1.sub_1", "--until", "2h"], /--until selects dead letters/],
    [["--since", "1h", "--until", "2h", "--dry-run"], /is after until_ms \d+: swap them/],
  ])("refuses %j", async (args, message) => {
    const { code: exit, stderr } = await redrive(...args);
    expect(exit).not.toBe(0);
    expect(stderr).toMatch(message);
  });

  it("fails for a paused webhook, and one that does not exist", async () => {
    await headwater.ok("pause", webhook);
    const { code: exit, stderr } = await redrive("--dry-run");
    expect([exit, stderr]).toEqual([4, expect.stringContaining(`webhook ${webhook} is inactive`)]);
    expect((await headwater.hw("webhooks", "redrive", "nowhere")).code).toBe(3);
  });
});
