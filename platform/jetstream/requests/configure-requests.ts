import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import type { ConfiguredOptions, ConfiguredProps } from "../../../domain/component/configure.ts";
import { parseConfigured } from "../../../domain/component/configured.ts";
import { Invariant } from "../../../domain/errors.ts";
import { configureSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const componentCall = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("options"),
    prop: z.string(),
    page: z.int().min(0),
    prevContext: z.json().exactOptional(),
    query: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("props") }),
]);
const configureRequest = z.object({
  namespace: z.string(),
  component: z.string(),
  source: z.string().exactOptional(),
  props: z.record(z.string(), z.json()).exactOptional(),
  call: componentCall,
});
type ConfigureRequest = z.infer<typeof configureRequest>;
type Configured = ConfiguredOptions | ConfiguredProps;

/** The timeout is longer than a call may take, so that the operator's own error about its time limit arrives. */
const service: Service = {
  queue: "configurators",
  timeoutMs: 25_000,
  noReply: {
    absent: { code: "no_operator", message: "no operator is running: components cannot be configured now, try again" },
    late: { status: 504, code: "configure_timeout", message: "the operator did not answer in time: try again" },
    unreachable: { code: "operator_unreachable", message: "the operator cannot be reached: try again" },
  },
};

/** Each request goes to one of the operators. */
export const serveConfigureRequests = (
  { nats }: Pick<Connection, "nats">,
  configure: (request: ConfigureRequest) => Promise<Configured>,
): Promise<Stoppable> => serve(nats, configureSubject, service, (body) => configure(configureRequest.parse(body)));

/** Calls a component through an operator, which validates the request. @throws what the operator threw; Unavailable when none replies */
export async function requestConfigure(nats: NatsConnection, call: object): Promise<Configured> {
  const configured = parseConfigured(await request(nats, configureSubject, service, call));
  if (configured.outcome === "failed") throw new Invariant("the operator returned a failed call instead of an error");
  return configured;
}
