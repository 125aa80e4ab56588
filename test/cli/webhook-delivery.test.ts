import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { withInstallation } from "./installation.ts";

/** `hw webhooks delivery`, on a running server. */
const headwater = withInstallation();

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(418, { "x-kind": "teapot" }).end("short\nand \u001b[31mstout"));
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Answer<Data> {
  readonly data: Data;
}
interface Delivery {
  readonly attempts: readonly { readonly response: { readonly body: string; readonly body_encoding: string } }[];
}

/** Tests the webhook, and returns the id of the delivery once it is recorded. */
async function testedDelivery(name: string): Promise<string> {
  const { port } = server.address() as AddressInfo; // Listening on TCP.
  await headwater.ok("webhooks", "create", `http://127.0.0.1:${port}/tea`, "--name", name);
  await headwater.hw("webhooks", "test", name);
  let id = "";
  await until(async () => {
    const { data } = await headwater.json<Answer<readonly { readonly delivery_id: string }[]>>("webhooks", "deliveries", name);
    return (id = data[0]?.delivery_id ?? "") !== "";
  }, "the test is listed");
  return id;
}

describe("hw webhooks delivery", () => {
  it("prints the request and the response of an attempt, and all of it as JSON", async () => {
    const id = await testedDelivery("teapot");
    const printed = await headwater.ok("webhooks", "delivery", id);
    expect(printed).toMatch(new RegExp(`^delivery_id: +${id.replaceAll(".", "\\.")}$`, "m"));
    expect(printed).toMatch(/^> POST http:\/\/127\.0\.0\.1:\d+\/tea\n> content-type: application\/json\n/m);
    expect(printed).toMatch(/^> webhook-signature: v1,\S+=$/m);
    expect(printed).toMatch(/^< 418\n< x-kind: teapot\n/m);
    // The escape character makes the body binary: a terminal never gets it.
    const { data } = await headwater.json<Answer<Delivery>>("webhooks", "delivery", id);
    const [attempt] = data.attempts;
    expect(attempt?.response.body_encoding).toBe("base64");
    expect(printed).toContain(`< (binary, as base64)\n< ${attempt?.response.body}`);
    expect(await headwater.ok("webhooks", "delivery", id, "--attempt", "1")).toBe(printed);
  });

  it("is named by the trace of a delivery", async () => {
    const id = await testedDelivery("traced teapot");
    const { stderr } = await headwater.hw("trace", id);
    expect(stderr).toContain(`\`hw webhooks delivery ${id}\` shows what was sent and answered`);
  });

  it("says which attempts are stored, and that a delivery is unknown", async () => {
    const id = await testedDelivery("third teapot");
    const missing = await headwater.hw("webhooks", "delivery", id, "--attempt", "7");
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("attempt 7 is not stored: the attempts are 1")]);
    expect((await headwater.hw("webhooks", "delivery", "unknown")).code).toBe(3);
  });
});
