import {
  attemptSchema,
  backlogSchema,
  deadLetterSchema,
  purgedSchema,
  redrivenSchema,
  retriedSchema,
  rotatedWebhookSchema,
  testedWebhookSchema,
} from "../../deliveries/schemas.ts";
import { expansion, filter, redrive } from "../../deliveries/operations.ts";
import { rotation, test } from "../../webhooks/request.ts";
import { pages } from "../fields.ts";
import { accepted, one, page, type Operations } from "../operation.ts";

export const deliveryOperations = {
  "POST /webhooks/:id/rotate_key": {
    id: "rotateSigningKey",
    summary: "Sign with a new key",
    description: "The key before signs beside it until the overlap ends.",
    body: rotation,
    bodyOrQuery: true,
    answers: one(rotatedWebhookSchema),
    errors: [409],
  },
  "DELETE /webhooks/:id/previous_key": {
    id: "endPreviousKey",
    summary: "Sign with the newest key alone",
    answers: one(rotatedWebhookSchema),
    errors: [409],
  },
  "POST /webhooks/:id/test": {
    id: "testWebhook",
    summary: "Post one signed event to a webhook now",
    body: test,
    means: { event: "What is posted; one that says that it is a test, unless it is given." },
    answers: one(testedWebhookSchema),
    errors: [409, 504],
  },
  "GET /webhooks/:id/backlog": {
    id: "getBacklog",
    summary: "What waits for a webhook",
    description: "How many deliveries, until when, and which one holds up the line of an ordered webhook.",
    answers: one(backlogSchema),
  },
  "GET /webhooks/:id/deliveries": {
    id: "listAttempts",
    summary: "Attempts at deliveries to a webhook",
    query: filter.extend(pages.shape),
    answers: page(attemptSchema),
  },
  "GET /webhooks/:id/dead_letters": {
    id: "listDeadLetters",
    summary: "Deliveries that failed for good",
    query: expansion.extend(pages.shape),
    answers: page(deadLetterSchema),
  },
  "DELETE /webhooks/:id/dead_letters": { id: "purgeDeadLetters", summary: "Delete all dead letters", answers: one(purgedSchema) },
  "POST /webhooks/:id/dead_letters/redrive": {
    id: "redriveDeadLetters",
    summary: "Try dead letters again",
    body: redrive,
    answers: accepted(redrivenSchema),
    errors: [409],
  },
  "POST /deliveries/:id/retry": {
    id: "retryDelivery",
    summary: "Try a delivery again now",
    description: "One that is dead, or waits for its next attempt.",
    answers: accepted(retriedSchema),
    errors: [409],
  },
} as const satisfies Operations;
