import { z } from "zod";
import { Malformed, Unauthenticated } from "../../domain/errors.ts";
import type { KeyGrant } from "../http/ports.ts";

/** The form of RFC 6749, section 4.4.2, with the client's credentials as parameters or as HTTP Basic (section 2.3.1). */
export const tokenFields = z.object({
  grant_type: z.string().describe("`client_credentials`."),
  client_id: z
    .string()
    .optional()
    .describe("Id of your user, `u_…`, or of the API key, `pk_…`. Alternatively in the Authorization header (Basic)."),
  client_secret: z.string().optional().describe("The API key. Alternatively in the Authorization header (Basic)."),
  scope: z.string().optional().describe("Ignored: the token has the scopes of the key, as the response says."),
});

/** Upper bound of `expires_in`. A client that renews its token learns that its key was revoked. */
const maxLifetimeSeconds = 3_600;

export interface Client {
  /** Id of the user, or of the API key. */
  readonly id: string;
  /** The API key. */
  readonly secret: string;
}

/**
 * Reads the client's credentials from a token request. Error codes are those of RFC 6749, section 5.2.
 * @param authorization the Authorization header
 * @throws Malformed, Unauthenticated
 */
export function readTokenRequest(authorization: string | undefined, body: unknown): Client {
  const parsed = tokenFields.partial().safeParse(body ?? {});
  if (!parsed.success) throw invalidRequest(`${parsed.error.issues[0]?.path.join(".") ?? "the body"} must be a string`);
  const { grant_type, client_id, client_secret } = parsed.data;
  if (grant_type === undefined || grant_type === "") throw invalidRequest("grant_type is missing: it must be client_credentials");
  if (grant_type !== "client_credentials")
    throw new Malformed("grant_type must be client_credentials: there is no other", { code: "unsupported_grant_type" });
  const basic = readBasic(authorization);
  if (basic !== undefined && client_secret !== undefined)
    throw invalidRequest("the client's credentials are given twice: in the Authorization header and in the body");
  if (basic !== undefined && client_id !== undefined && client_id !== basic.id)
    throw invalidRequest("client_id is not that of the Authorization header");
  const { id, secret } = basic ?? { id: client_id ?? "", secret: client_secret ?? "" };
  if (id === "" || secret === "")
    throw new Unauthenticated(
      "the client's credentials are missing: send client_id (your user's id or the API key's) and client_secret (the API key), or both as HTTP Basic",
      { code: "invalid_client" },
    );
  return { id, secret };
}

/** Undefined for another scheme: some libraries send `Bearer` with every request. */
function readBasic(authorization: string | undefined): Client | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]{1,4096}) *$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon === -1) throw invalidRequest("the Authorization header is invalid: it must be Basic with the client's id and secret");
  return { id: decoded(text.slice(0, colon)), secret: decoded(text.slice(colon + 1)) };
}

/** RFC 6749 form-encodes both parts, which few clients do. Our ids and keys are the same either way. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

const invalidRequest = (message: string): Malformed => new Malformed(message, { code: "invalid_request" });

/**
 * The access token is the API key itself. It has the scopes, the expiry and the rate limit of the key and is revoked with it, so there is
 * no token to store.
 */
export function tokenResponse(key: string, { scopes, expiresAt }: KeyGrant, now: number) {
  const leftSeconds = expiresAt === null ? maxLifetimeSeconds : Math.floor((expiresAt - now) / 1_000);
  return {
    access_token: key,
    token_type: "Bearer" as const,
    expires_in: Math.max(1, Math.min(maxLifetimeSeconds, leftSeconds)),
    created_at: Math.floor(now / 1_000),
    scope: scopes.join(" "),
  };
}
