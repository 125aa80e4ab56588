import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TokenRequest {
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface OauthServer {
  readonly tokenUrl: string;
  readonly requests: TokenRequest[];
  /** Access tokens that it has issued, in order. */
  readonly given: string[];
  /** The valid refresh token. */
  refreshToken: string;
  /** `expires_in` in seconds; undefined: responses omit it. */
  expiresIn: number | undefined;
  /** Whether each refresh replaces the refresh token and invalidates the previous one. */
  rotates: boolean;
  /** Handles requests in its place while it is set. */
  instead: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

export const client = { clientId: "client/1", clientSecret: "p@ss:word+/=" } as const;

/** A token endpoint by RFC 6749, for one client and one grant. */
export async function startOauthServer(): Promise<OauthServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => answer(request, Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  let count = 0;
  const self: OauthServer = {
    tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token`, // Listening on TCP.
    requests: [],
    given: [],
    refreshToken: "refresh-0-of-the-user",
    expiresIn: 3_600,
    rotates: false,
    instead: undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    const parameters = Object.fromEntries(new URLSearchParams(body));
    self.requests.push({ authorization: request.headers.authorization, contentType: request.headers["content-type"], parameters });
    if (self.instead !== undefined) return self.instead(request, response);
    if (!isClient(request.headers.authorization, parameters)) return say(response, 401, { error: "invalid_client" });
    if (parameters["grant_type"] !== "refresh_token") return say(response, 400, { error: "unsupported_grant_type" });
    if (parameters["refresh_token"] !== self.refreshToken)
      return say(response, 400, { error: "invalid_grant", error_description: `no such token: ${parameters["refresh_token"]}` });
    count++;
    if (self.rotates) self.refreshToken = `refresh-${count}-of-the-user`;
    const token = `access-${count}-of-the-user`;
    self.given.push(token);
    say(response, 200, {
      access_token: token,
      token_type: "bearer",
      ...(self.expiresIn === undefined ? {} : { expires_in: self.expiresIn }),
      ...(self.rotates ? { refresh_token: self.refreshToken } : {}),
    });
  }
  return self;
}

/** RFC 6749, section 2.3.1: client id and secret are form-encoded before Basic authentication encodes them. */
function isClient(authorization: string | undefined, parameters: Readonly<Record<string, string>>): boolean {
  if (authorization === undefined)
    return parameters["client_id"] === client.clientId && parameters["client_secret"] === client.clientSecret;
  const [id = "", secret = ""] = Buffer.from(authorization.replace(/^Basic /, ""), "base64")
    .toString()
    .split(":");
  const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
  return decode(id) === client.clientId && decode(secret) === client.clientSecret;
}

export function say(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
