import { NoRespondersError, RequestError, type NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { Unavailable } from "../../domain/errors.ts";
import { operatorStatusSubject } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";

const operatorStatus = z.object({
  /** Runners of the default pool that live now. */
  runners: z.int().min(0),
  /** The default pool may have none while nothing waits for it: an invocation wakes it. */
  mayScaleToZero: z.boolean(),
});
export type OperatorStatus = z.infer<typeof operatorStatus>;

const timeoutMs = 1_500;

/** Answers as the operator that leads: to be called when it begins to lead, and stopped when it ends. */
export async function serveOperatorStatus({ nats }: Pick<Connection, "nats">, status: () => Promise<OperatorStatus>): Promise<Reading> {
  const subscription = nats.subscribe(operatorStatusSubject, {
    callback: (error, message) => {
      if (error !== null) return;
      // The caller has a time limit of its own.
      void status()
        .then((answer) => message.respond(JSON.stringify(answer)))
        .catch(() => undefined);
    },
  });
  await nats.flush();
  return {
    stop: async () => {
      subscription.unsubscribe();
    },
  };
}

/** Asks the operator that leads. @throws Unavailable when none does */
export async function requestOperatorStatus(nats: NatsConnection): Promise<OperatorStatus> {
  const message = await nats.request(operatorStatusSubject, "", { timeout: timeoutMs }).catch((cause: unknown) => {
    const isAbsent = cause instanceof NoRespondersError || (cause instanceof RequestError && cause.isNoResponders());
    throw new Unavailable(isAbsent ? "no operator leads" : "the operator does not answer", { code: "no_operator", cause });
  });
  return operatorStatus.parse(message.json());
}
