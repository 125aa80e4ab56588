import { webhookTestSubject } from "../../../domain/subjects.ts";
import { testedWebhook, webhookTest, type TestedWebhook, type WebhookTest } from "../../../domain/delivery/webhook-test.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import type { Nats } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

/** The timeout is longer than an attempt may take. */
const service: Service = {
  queue: "deliverers",
  timeoutMs: 20_000,
  noReply: {
    absent: { code: "no_delivery", message: "no delivery process is running: start the role delivery, or try again" },
    late: { status: 504, code: "test_timeout", message: "delivery did not answer in time: try again" },
    unreachable: { code: "delivery_unreachable", message: "delivery cannot be reached: try again" },
  },
};

/** Each request goes to one of the delivery processes. */
export const serveWebhookTests = (
  { nats }: Pick<Connection, "nats">,
  test: (request: WebhookTest) => Promise<TestedWebhook>,
): Promise<Stoppable> => serve(nats, webhookTestSubject, service, (body) => test(webhookTest.parse(body)));

/** Sends a test event to a webhook through delivery. @throws Unavailable when no process replies; 504 `test_timeout` */
export const requestWebhookTest = async (nats: Nats, test: WebhookTest): Promise<TestedWebhook> =>
  testedWebhook.parse(await request(nats, webhookTestSubject, service, test));
