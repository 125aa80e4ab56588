import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { Unavailable } from "../../../domain/errors.ts";
import { operatorStatusSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Reading } from "../read/consumer.ts";
import { request, serve, type Service } from "./request-reply.ts";

const operatorStatus = z.object({
  /** Runners of the default pool that live now. */
  runners: z.int().min(0),
  /** The default pool may have none while nothing waits for it: an invocation wakes it. */
  mayScaleToZero: z.boolean(),
});
export type OperatorStatus = z.infer<typeof operatorStatus>;

const service: Service = {
  timeoutMs: 1_500,
  noReply: (reason, cause) =>
    new Unavailable(reason === "absent" ? "no operator leads" : "the operator does not answer", { code: "no_operator", cause }),
};

/** Serves as the operator that leads: to be called when it begins to lead, and stopped when it ends. */
export const serveOperatorStatus = ({ nats }: Pick<Connection, "nats">, status: () => Promise<OperatorStatus>): Promise<Reading> =>
  serve(nats, operatorStatusSubject, service, () => status());

/** Asks the operator that leads. @throws Unavailable when none does */
export const requestOperatorStatus = async (nats: NatsConnection): Promise<OperatorStatus> =>
  operatorStatus.parse(await request(nats, operatorStatusSubject, service, {}));
