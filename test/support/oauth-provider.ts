import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How a service deviates from the plain code flow, as some do. */
export interface Quirks {
  readonly scopeSeparator?: " " | ",";
  readonly clientAuthentication?: "basic" | "body";
  readonly answers?: "json" | "form";
  readonly hasRefreshToken?: boolean;
  /** Each refresh replaces the refresh token, and voids the one before. */
  readonly rotates?: boolean;
  readonly requiresPkce?: boolean;
  /** The value of `iss` in its redirects. */
  readonly issuer?: string;
  /** Scopes that the person does not grant. */
  readonly withheld?: readonly string[];
  /** Fields of the token response besides. */
  readonly fields?: Readonly<Record<string, string>>;
}

export const registered = { clientId: "client/1", clientSecret: "p@ss:word+/=" } as const;

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string | undefined;
  readonly scopes: readonly string[];
}

/**
 * A strict authorization server for one client: it refuses what RFC 6749 and RFC 7636 refuse. `signIn` is the browser: it opens the
 * address, and returns where the service redirects it.
 */
export class OauthProvider {
  readonly revoked: string[] = [];
  readonly tokenRequests: Readonly<Record<string, string>>[] = [];
  quirks: Quirks = {};
  /** Handles requests to the token endpoint in its place while it is set. */
  instead: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** The valid refresh token. */
  refreshToken = "";
  readonly #codes = new Map<string, Grant>();
  readonly #server: Server;
  #count = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => this.#answer(request, Buffer.concat(chunks).toString(), response));
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // Listening on TCP.
  }

  /** A person signs in and allows access. @throws when the request is not what the registered client may ask for */
  signIn(address: string, redirectUri: string): URL {
    const { origin, pathname, searchParams } = new URL(address);
    const given = Object.fromEntries(searchParams);
    const { scopeSeparator = " ", requiresPkce = true } = this.quirks;
    const mistakes = [
      ...(origin + pathname === `${this.origin}/authorize` ? [] : ["another address"]),
      ...(given["response_type"] === "code" ? [] : ["response_type"]),
      ...(given["client_id"] === registered.clientId ? [] : ["client_id"]),
      ...(given["redirect_uri"] === redirectUri ? [] : ["redirect_uri is not the registered one"]),
      ...((given["state"] ?? "").length >= 43 ? [] : ["state is guessable"]),
      ...(requiresPkce === (given["code_challenge_method"] === "S256") ? [] : ["code_challenge_method"]),
    ];
    if (mistakes.length > 0) throw new Error(`the service refuses ${address}: ${mistakes.join(", ")}`);
    const scopes = (given["scope"] ?? "").split(scopeSeparator).filter((scope) => !this.quirks.withheld?.includes(scope));
    const code = randomBytes(16).toString("hex");
    this.#codes.set(code, { redirectUri, challenge: given["code_challenge"], scopes });
    return this.#redirect(redirectUri, { code, state: given["state"] ?? "" });
  }

  /** A person cancels, or the service refuses. */
  refuse(address: string, error = "access_denied"): URL {
    const { searchParams } = new URL(address);
    const text = `<script>alert("${error}")</script>`;
    return this.#redirect(searchParams.get("redirect_uri") ?? "", {
      error,
      error_description: text,
      state: searchParams.get("state") ?? "",
    });
  }

  #redirect(redirectUri: string, parameters: Readonly<Record<string, string>>): URL {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    if (this.quirks.issuer !== undefined) url.searchParams.set("iss", this.quirks.issuer);
    return url;
  }

  #answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    const path = request.url ?? "";
    const parameters = Object.fromEntries(new URLSearchParams(body));
    if (path === "/me")
      return request.headers.authorization?.startsWith("Bearer access-") === true
        ? json(response, 200, { user: { name: "Ada at the service" }, pictures: [{ url: "https://service.test/ada.png" }] })
        : json(response, 401, {});
    if (path === "/token" && this.instead !== undefined) return this.instead(request, response);
    if (request.method !== "POST" || !this.#isClient(request.headers.authorization, parameters))
      return json(response, 401, { error: "invalid_client" });
    if (path === "/revoke") {
      this.revoked.push(`${parameters["token_type_hint"]} ${parameters["token"]}`);
      return json(response, 200, {});
    }
    this.tokenRequests.push(parameters);
    if (parameters["grant_type"] === "authorization_code") return this.#exchange(parameters, response);
    if (parameters["grant_type"] !== "refresh_token" || parameters["refresh_token"] !== this.refreshToken)
      return json(response, 400, { error: "invalid_grant" });
    return this.#issue(undefined, response);
  }

  #exchange(parameters: Readonly<Record<string, string>>, response: ServerResponse): void {
    const { code = "", redirect_uri: redirectUri, code_verifier: verifier } = parameters;
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = verifier === undefined ? undefined : createHash("sha256").update(verifier).digest("base64url");
    if (grant === undefined || grant.redirectUri !== redirectUri || grant.challenge !== challenge)
      return json(response, 400, { error: "invalid_grant", error_description: `code ${code}` });
    return this.#issue(grant.scopes, response);
  }

  #issue(scopes: readonly string[] | undefined, response: ServerResponse): void {
    const { hasRefreshToken = true, rotates = false, scopeSeparator = " ", answers = "json", fields = {} } = this.quirks;
    this.#count++;
    if (hasRefreshToken && (scopes !== undefined || rotates)) this.refreshToken = `refresh-${this.#count}`;
    const answer = {
      access_token: `access-${this.#count}`,
      token_type: "bearer",
      ...(hasRefreshToken ? { expires_in: "3600" } : {}),
      ...(hasRefreshToken && (scopes !== undefined || rotates) ? { refresh_token: this.refreshToken } : {}),
      ...(scopes === undefined ? {} : { scope: scopes.join(scopeSeparator) }),
      ...fields,
    };
    if (answers === "json") return json(response, 200, answer);
    response.writeHead(200, { "content-type": "application/x-www-form-urlencoded" }).end(new URLSearchParams(answer).toString());
  }

  #isClient(authorization: string | undefined, { client_id: id, client_secret: secret }: Readonly<Record<string, string>>): boolean {
    const { clientAuthentication = "basic" } = this.quirks;
    if (clientAuthentication === "body") return id === registered.clientId && secret === registered.clientSecret;
    const [name = "", password = ""] = Buffer.from(authorization?.replace(/^Basic /, "") ?? "", "base64")
      .toString()
      .split(":");
    const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
    return decode(name) === registered.clientId && decode(password) === registered.clientSecret;
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
