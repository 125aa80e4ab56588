import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createEgress } from "../../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient } from "../../../platform/http/webhook-client.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { until } from "../../support/until.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

const world = withWorkflowWorld();
const attemptsPerHost = 4;
let client: WebhookClient;
let server: Server;
let hanging: { readonly id: string; readonly response: ServerResponse }[] = [];
let statuses: number[] = [];

beforeAll(async () => {
  client = createWebhookClient({ egress: createEgress({ allow: ["127.0.0.0/8"] }), timeoutMs: 600_000, connections: attemptsPerHost });
  server = createServer((request, response) => {
    request.resume();
    if (request.url === "/slow") hanging.push({ id: String(request.headers["idempotency-key"]), response });
    else response.writeHead(statuses.shift() ?? 200).end();
  });
  server.listen(0);
  await once(server, "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await client.close();
});

it("retries a send of one owner in time while 1,200 slow sends of another owner to 300 hosts wait", async () => {
  const { port } = server.address() as AddressInfo; // Listening on TCP.
  const records = createDeliveryRecords(world.database());
  const request = (host: string, path: string) => JSON.stringify({ method: "POST", url: `http://${host}:${port}${path}`, headers: {} });
  const end = (owner: string, workflow: string, sends: readonly string[]) =>
    world.endRun(workflow, `r_${workflow}`, {
      owner,
      workflow: {
        status: "succeeded",
        number: 1,
        startedAt: 1,
        stepCount: 1,
        sends: sends.map((argument, n) => ({ id: `r_${workflow}.s${n}`, kind: "http", argument, step: "one", at: 1 })),
      },
    });
  // Sends wait for due places once their first attempt has reached the deadline.
  const changes = { deliveryDeadlineMs: 500, nextAttempt: () => 100, attemptsPerWebhook: attemptsPerHost };
  await world.start(world.streams.connection, { poster: client }, changes);

  const hosts = Array.from({ length: 300 }, (_, n) => `127.0.${1 + (n >> 7)}.${1 + (n & 127)}`);
  const slow = hosts.flatMap((host) => Array<string>(attemptsPerHost).fill(request(host, "/slow")));
  await end("u_slow", "p_slow", slow);
  await until(() => hanging.length >= 768, "as many as an owner may have alone");

  statuses = [503, 503];
  await end("u_other", "p_other", [request("127.0.0.1", "/other")]);
  // None of the slow sends ends in the meantime.
  const attempts = async () => (await records.pageAttempts("p_other", { limit: 10, cursor: null })).items;
  await until(async () => (await attempts()).some(({ outcome }) => outcome === "delivered"), "the other owner's send");
  expect((await attempts()).map(({ outcome }) => outcome).toSorted()).toEqual(["delivered", "retry", "retry"]);

  // Each is delivered, although some were rescheduled.
  const taken = new Set<string>();
  const answerAll = (): boolean => {
    for (const { id, response } of hanging.splice(0)) {
      taken.add(id);
      response.writeHead(200).end();
    }
    return taken.size >= slow.length;
  };
  await until(answerAll, "all slow sends are delivered");
  expect(taken.size).toBe(slow.length);
});
