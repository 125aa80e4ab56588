import { z } from "zod";
import { secretReference, type SecretReference } from "../../../crds/secret-reference.ts";
import { clientAuthentications } from "../../../domain/app/app.ts";
import { connectionFailures, type CodeExchange, type ExchangeResult } from "../../../domain/connection/connection.ts";
import { connectSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Nats, Stoppable } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const codeExchange = z.object({
  namespace: z.string(),
  account: z.string(),
  client: z.string(),
  code: z.string(),
  issuer: z.string().exactOptional(),
  verifier: z.string(),
  redirectUri: z.string(),
  scopes: z.array(z.string()),
});
const revocation = z.object({ namespace: z.string(), revoked: z.string() });

const result = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("connected"),
    credentials: z.record(z.string(), secretReference),
    oauth: z
      .object({
        tokenUrl: z.string(),
        clientId: z.string(),
        clientAuthentication: z.enum(clientAuthentications),
        refreshToken: secretReference,
        expiresAt: z.string().exactOptional(),
      })
      .exactOptional(),
    expiresAt: z.string().exactOptional(),
    scopes: z.array(z.string()),
    missingScopes: z.array(z.string()),
    name: z.string().exactOptional(),
    picture: z.string().exactOptional(),
  }),
  z.object({ outcome: z.literal("failed"), code: z.enum(connectionFailures), message: z.string() }),
]);

/** Longer than the requests of one exchange to a service may take. */
const service: Service = {
  queue: "connectors",
  timeoutMs: 25_000,
  noReply: {
    absent: { code: "no_operator", message: "no operator is running: accounts cannot be connected now, try again" },
    late: { message: "the operator did not answer in time: try again" },
    unreachable: { code: "operator_unreachable", message: "the operator cannot be reached: try again" },
  },
};

export interface Connector {
  exchangeCode(request: CodeExchange): Promise<ExchangeResult<SecretReference>>;
  /** @param account its resource name */
  revokeAccount(request: { readonly namespace: string; readonly account: string }): Promise<boolean>;
}

/** Each request goes to one of the operators. */
export const serveConnectRequests = ({ nats }: Pick<Connection, "nats">, connector: Connector): Promise<Stoppable> =>
  serve(nats, connectSubject, service, async (body) => {
    const revoked = revocation.safeParse(body);
    if (revoked.success) return connector.revokeAccount({ namespace: revoked.data.namespace, account: revoked.data.revoked });
    return connector.exchangeCode(codeExchange.parse(body));
  });

/** Exchanges a code through an operator. @throws what the operator threw; Unavailable when none replies */
export const requestExchange = async (nats: Nats, exchange: CodeExchange): Promise<ExchangeResult<SecretReference>> =>
  result.parse(await request(nats, connectSubject, service, exchange));

/** Revokes an account's tokens through an operator. @throws what the operator threw; Unavailable when none replies in time */
export async function requestRevocation(
  nats: Nats,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  await request(nats, connectSubject, { ...service, timeoutMs: 10_000 }, { namespace, revoked: name });
}
