import { NoRespondersError, RequestError, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import { webhookTestSubject } from "../../domain/subjects.ts";
import { testedWebhook, webhookTest, type TestedWebhook, type WebhookTest } from "../../domain/webhook-test.ts";
import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";

const queueGroup = "deliverers";
/** Longer than an attempt may take. */
const timeoutMs = 20_000;

/** Answers what the API asks; any number of processes may do so, each request goes to one. */
export async function serveWebhookTests(
  { nats }: Pick<Connection, "nats">,
  test: (request: WebhookTest) => Promise<TestedWebhook>,
): Promise<Reading> {
  const subscription = nats.subscribe(webhookTestSubject, {
    queue: queueGroup,
    callback: (error, message) => {
      if (error === null) void reply(message, test); // Never rejects.
    },
  });
  // The server knows of it before this resolves, so the first request finds somebody.
  await nats.flush();
  return {
    stop: async () => {
      await subscription.drain().catch(() => undefined);
    },
  };
}

/** What cannot be read or answered is not: the asker's deadline ends its wait. */
async function reply(message: Msg, test: (request: WebhookTest) => Promise<TestedWebhook>): Promise<void> {
  try {
    message.respond(JSON.stringify(await test(webhookTest.parse(message.json()))));
  } catch {
    // Only a stranger asks what cannot be read; otherwise the connection is gone.
  }
}

/** Asks whoever delivers. @throws Unavailable when none does; 504 `test_timeout` */
export async function requestWebhookTest(nats: NatsConnection, request: WebhookTest): Promise<TestedWebhook> {
  const message = await nats.request(webhookTestSubject, JSON.stringify(request), { timeout: timeoutMs }).catch((error: unknown) => {
    throw explain(error);
  });
  return testedWebhook.parse(message.json());
}

function explain(cause: unknown): HeadwaterError {
  if (cause instanceof NoRespondersError || (cause instanceof RequestError && cause.isNoResponders()))
    return new Unavailable("nobody delivers now: start the role delivery, or try again", { code: "no_delivery", cause });
  if (cause instanceof Error && cause.name === "TimeoutError")
    return new HeadwaterError(504, "test_timeout", "whoever delivers did not answer in time: try again", { cause });
  return new Unavailable("whoever delivers cannot be reached: try again", { code: "delivery_unreachable", cause });
}
