import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import type { ConfiguredOptions, ConfiguredProps } from "../../../domain/component/configure.ts";
import { parseConfigured } from "../../../domain/component/configured.ts";
import { HeadwaterError, Invariant, Unavailable } from "../../../domain/errors.ts";
import { configureSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Reading } from "../read/consumer.ts";
import { request, serve, type Service } from "./request-reply.ts";

const call = z.discriminatedUnion("kind", [
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
  call,
});
type ConfigureRequest = z.infer<typeof configureRequest>;
type Answered = ConfiguredOptions | ConfiguredProps;

/** The timeout is longer than a call may take, so that the operator's own error about its time limit arrives. */
const service: Service = {
  queue: "configurators",
  timeoutMs: 25_000,
  noReply: (reason, cause) => {
    if (reason === "absent")
      return new Unavailable("no operator is running: components cannot be configured now, try again", { code: "no_operator", cause });
    if (reason === "late") return new HeadwaterError(504, "configure_timeout", "the operator did not answer in time: try again", { cause });
    return new Unavailable("the operator cannot be reached: try again", { code: "operator_unreachable", cause });
  },
};

/** Each request goes to one of the operators. */
export const serveConfigureRequests = (
  { nats }: Pick<Connection, "nats">,
  configure: (request: ConfigureRequest) => Promise<Answered>,
): Promise<Reading> => serve(nats, configureSubject, service, (body) => configure(configureRequest.parse(body)));

/** Has an operator call a component. The operator checks the form of the request. @throws what it threw; Unavailable when none replies */
export async function requestConfigure(nats: NatsConnection, asked: object): Promise<Answered> {
  const configured = parseConfigured(await request(nats, configureSubject, service, asked));
  if (configured.outcome === "failed") throw new Invariant("the operator returned a failed call instead of an error");
  return configured;
}
