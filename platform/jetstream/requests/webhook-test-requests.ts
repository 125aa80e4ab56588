import type { NatsConnection } from "@nats-io/transport-node";
import { HeadwaterError, Unavailable } from "../../../domain/errors.ts";
import { webhookTestSubject } from "../../../domain/subjects.ts";
import { testedWebhook, webhookTest, type TestedWebhook, type WebhookTest } from "../../../domain/delivery/webhook-test.ts";
import type { Connection } from "../connection/connection.ts";
import type { Reading } from "../read/consumer.ts";
import { request, serve, type Service } from "./request-reply.ts";

/** The timeout is longer than an attempt may take. */
const service: Service = {
  queue: "deliverers",
  timeoutMs: 20_000,
  noReply: (reason, cause) => {
    if (reason === "absent")
      return new Unavailable("no delivery process is running: start the role delivery, or try again", { code: "no_delivery", cause });
    if (reason === "late") return new HeadwaterError(504, "test_timeout", "delivery did not answer in time: try again", { cause });
    return new Unavailable("delivery cannot be reached: try again", { code: "delivery_unreachable", cause });
  },
};

/** Each request goes to one of the delivery processes. */
export const serveWebhookTests = (
  { nats }: Pick<Connection, "nats">,
  test: (request: WebhookTest) => Promise<TestedWebhook>,
): Promise<Reading> => serve(nats, webhookTestSubject, service, (body) => test(webhookTest.parse(body)));

/** Has delivery send a test event to a webhook. @throws Unavailable when no process replies; 504 `test_timeout` */
export const requestWebhookTest = async (nats: NatsConnection, asked: WebhookTest): Promise<TestedWebhook> =>
  testedWebhook.parse(await request(nats, webhookTestSubject, service, asked));
