import { z } from "zod";
import { operatorStatusSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import type { Nats } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const operatorStatus = z.object({
  /** Live runners of the default pool. */
  runners: z.int().min(0),
  /** The default pool may have no runner while its queue is empty: the first invocation starts one. */
  mayScaleToZero: z.boolean(),
});
export type OperatorStatus = z.infer<typeof operatorStatus>;

const notAnswering = { code: "no_operator", message: "the operator does not answer" } as const;
const service: Service = {
  timeoutMs: 1_500,
  noReply: { absent: { code: "no_operator", message: "no operator leads" }, late: notAnswering, unreachable: notAnswering },
};

/** Serves the status of the leading operator. Call it when this operator begins to lead, and stop it when it no longer does. */
export const serveOperatorStatus = ({ nats }: Pick<Connection, "nats">, status: () => Promise<OperatorStatus>): Promise<Stoppable> =>
  serve(nats, operatorStatusSubject, service, () => status());

/** @throws Unavailable when no operator leads */
export const requestOperatorStatus = async (nats: Nats): Promise<OperatorStatus> =>
  operatorStatus.parse(await request(nats, operatorStatusSubject, service, {}));

/**
 * Serves the status while this operator leads.
 * @returns to be called with each change of leadership
 */
export function createStatusService(
  connection: Pick<Connection, "nats">,
  status: () => Promise<OperatorStatus>,
  onError: (error: unknown) => void,
): (isLeading: boolean) => void {
  let serving: Promise<Stoppable> | undefined;
  return (isLeading) => {
    const stopped = serving?.then((service) => service.stop());
    serving = isLeading ? serveOperatorStatus(connection, status) : undefined;
    for (const each of [stopped, serving]) each?.catch(onError);
  };
}
