import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { Forbidden } from "../../../domain/errors.ts";
import { userInfoSubject, type AccountRights } from "./account-rights.ts";

const subjects = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);
const permission = z.object({ allow: subjects, deny: subjects }).nullish();
const userInfo = z.object({
  user: z.string().default(""),
  permissions: z.object({ publish: permission, subscribe: permission, responses: z.unknown().optional() }).nullish(),
});
const answer = z.object({ server: z.object({ id: z.string() }), data: userInfo });
/** Rights of a user, as NATS reports them. Without a list a user may do everything. */
export type UserPermissions = NonNullable<z.output<typeof userInfo>["permissions"]>;
type SubjectPermission = UserPermissions["publish"];

const requestTimeoutMs = 5_000;
const maxNamed = 3;

/**
 * Checks the rights of the connected user, so that a missing one is named at the start: NATS answers a request without a right with
 * nothing, and the request would time out.
 *
 * @throws Forbidden
 */
export async function requireRights(client: NatsConnection, rights: AccountRights, of: string): Promise<void> {
  const found = await connectedUser(client).catch((cause: unknown) => {
    throw lacking(of, "", [`publish on ${userInfoSubject}`], cause);
  });
  if (found === undefined) throw lacking(of, "", [`publish on ${userInfoSubject}`]);
  const { user, permissions } = found;
  const missing = missingRights(rights, permissions ?? undefined);
  if (missing.length > 0) throw lacking(of, user, missing);
}

/** Leaf nodes of the account answer too, about the connection between the servers. */
async function connectedUser(client: NatsConnection): Promise<z.output<typeof userInfo> | undefined> {
  const answers = await client.requestMany(userInfoSubject, "", { maxWait: requestTimeoutMs, strategy: "timer" });
  for await (const message of answers) {
    if (message.headers?.code === 503) return undefined; // No responders.
    const { server, data } = answer.parse(message.json());
    if (server.id === client.info?.server_id) return data;
  }
  return undefined;
}

function lacking(of: string, user: string, missing: readonly string[], cause?: unknown): Forbidden {
  const named = missing.slice(0, maxNamed).join(", ");
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  return new Forbidden(
    `the NATS user ${user === "" ? "" : `${user} `}of ${of} lacks the right to ${named}${more}: --nats-rights prints what each role needs`,
    { code: "nats_rights", details: missing, cause },
  );
}

/** What the user may not do, such as `publish on runs.>`. */
export function missingRights(rights: AccountRights, permissions: UserPermissions | undefined): readonly string[] {
  if (permissions === undefined) return [];
  const { publish, subscribe, responses } = permissions;
  const isSilent = rights.responds && responses == null && !isAllowed(">", publish);
  return [
    ...rights.publish.filter((subject) => !isAllowed(subject, publish)).map((subject) => `publish on ${subject}`),
    ...rights.subscribe.filter((subject) => !isAllowed(subject, subscribe)).map((subject) => `subscribe to ${subject}`),
    ...(isSilent ? ["respond to requests (allow_responses)"] : []),
  ];
}

function isAllowed(subject: string, permission: SubjectPermission): boolean {
  const { allow, deny } = permission ?? { allow: [], deny: [] };
  const allows = allow.length === 0 || allow.some((pattern) => covers(pattern, subject));
  return allows && !deny.some((pattern) => overlaps(pattern, subject));
}

/** Does the pattern match all that the subject, which may have wildcards, stands for? */
function covers(pattern: string, subject: string): boolean {
  const [tokens, others] = [tokensOf(pattern), tokensOf(subject)];
  for (const [at, token] of tokens.entries()) {
    const other = others[at];
    if (other === undefined) return false;
    if (token === ">") return true;
    if (token !== other && (token !== "*" || other === ">")) return false;
  }
  return tokens.length === others.length;
}

/** Is there a subject that both match? */
function overlaps(pattern: string, subject: string): boolean {
  const [tokens, others] = [tokensOf(pattern), tokensOf(subject)];
  for (const [at, token] of tokens.entries()) {
    const other = others[at];
    if (other === undefined) return false;
    if (token === ">" || other === ">") return true;
    if (token !== other && token !== "*" && other !== "*") return false;
  }
  return tokens.length === others.length;
}

/** An entry may name a queue group after a space. */
const tokensOf = (pattern: string): readonly string[] => pattern.split(" ", 1).join("").split(".");
