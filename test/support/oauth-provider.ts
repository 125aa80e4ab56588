import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How a service deviates from the plain code flow, as some do. */
export interface Quirks {
  readonly scopeParameter?: string;
  readonly scopeSeparator?: " " | "," | ";";
  /** `raw`: by Basic authentication, which it does not decode as RFC 6749, section 2.3.1, asks for. */
  readonly clientAuthentication?: "basic" | "raw" | "body";
  /** The only format of requests to the token endpoint that it reads. */
  readonly requests?: "form" | "json";
  /** `negotiated`: forms, unless the request accepts JSON. */
  readonly answers?: "json" | "form" | "negotiated";
  /** It answers refusals with the status 200, as `{error}` or as `{ok: false, error}`. */
  readonly refusals?: "error" | "ok";
  readonly codeError?: string;
  readonly refreshError?: string;
  readonly hasRefreshToken?: boolean;
  /** It gives a refresh token only at the first consent with `access_type=offline`, and at each with `prompt=consent` as well. */
  readonly refreshesOffline?: boolean;
  /** Undefined: as a text, if it gives refresh tokens. Null: it does not say. */
  readonly expiresIn?: number | string | null;
  /** Each refresh replaces the refresh token, and voids the one before. */
  readonly rotates?: boolean;
  /** A refresh token that is used twice voids the one that replaced it (RFC 9700, section 4.14.2). */
  readonly detectsReuse?: boolean;
  /** Tokens in responses to codes are in an object of this name; those of others are at the top. */
  readonly nested?: string;
  readonly requiresPkce?: boolean;
  /** Scopes that its client may request for itself; undefined: it may not. */
  readonly clientScopes?: readonly string[];
  /** Requests of a client need it. */
  readonly audience?: string;
  /** The value of `iss` in its redirects. */
  readonly issuer?: string;
  /** Scopes that the person does not grant. */
  readonly withheld?: readonly string[];
  /** Fields of the token response besides. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export const registered = { clientId: "client/1", clientSecret: "p@ss:word+/=" } as const;
/** Of services that do not decode Basic authentication. */
const plain = { clientId: "2f1c0b9a-6e0d-4a55-9d6a-7a1f4c3c2b10", clientSecret: "secret_a-b.c~d" } as const;

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string | undefined;
  readonly scopes: readonly string[];
  readonly hasRefreshToken: boolean;
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
  readonly #used = new Set<string>();
  #consents = 0;
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

  get client(): { readonly clientId: string; readonly clientSecret: string } {
    return this.quirks.clientAuthentication === "raw" ? plain : registered;
  }

  /** How the registered client identifies itself. */
  get basic(): string {
    const [id, secret] = [registered.clientId, registered.clientSecret].map(encodeURIComponent);
    return `Basic ${btoa(`${id}:${secret}`)}`;
  }

  /** A person signs in and allows access. @throws when the request is not what the registered client may ask for */
  signIn(address: string, redirectUri: string): URL {
    const { origin, pathname, searchParams } = new URL(address);
    const given = Object.fromEntries(searchParams);
    const { scopeParameter = "scope", scopeSeparator = " ", requiresPkce = true } = this.quirks;
    const mistakes = [
      ...(origin + pathname === `${this.origin}/authorize` ? [] : ["another address"]),
      ...(given["response_type"] === "code" ? [] : ["response_type"]),
      ...(given["client_id"] === this.client.clientId ? [] : ["client_id"]),
      ...(given["redirect_uri"] === redirectUri ? [] : ["redirect_uri is not the registered one"]),
      ...((given["state"] ?? "").length >= 43 ? [] : ["state is guessable"]),
      ...(requiresPkce === (given["code_challenge_method"] === "S256") ? [] : ["code_challenge_method"]),
    ];
    if (mistakes.length > 0) throw new Error(`the service refuses ${address}: ${mistakes.join(", ")}`);
    const scopes = (given[scopeParameter] ?? "").split(scopeSeparator).filter((scope) => !this.quirks.withheld?.includes(scope));
    const code = randomBytes(16).toString("hex");
    this.#codes.set(code, { redirectUri, challenge: given["code_challenge"], scopes, hasRefreshToken: this.#isRefreshable(given) });
    return this.#redirect(redirectUri, { code, state: given["state"] ?? "" });
  }

  #isRefreshable({ access_type: type, prompt }: Readonly<Record<string, string>>): boolean {
    const { hasRefreshToken = true, refreshesOffline = false } = this.quirks;
    this.#consents++;
    return hasRefreshToken && (!refreshesOffline || (type === "offline" && (this.#consents === 1 || prompt === "consent")));
  }

  /** A person withdraws the access at the service. */
  withdraw(): void {
    this.refreshToken = "";
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
    if (path === "/me")
      return request.headers.authorization?.startsWith("Bearer access-") === true
        ? json(response, 200, { user: { name: "Ada at the service" }, pictures: [{ url: "https://service.test/ada.png" }] })
        : json(response, 401, {});
    if (path === "/token" && this.instead !== undefined) return this.instead(request, response);
    const { requests = "form" } = this.quirks;
    const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
    if (path === "/token" && isForm !== (requests === "form")) return json(response, 400, { error: "invalid_request" });
    const parameters = isForm ? Object.fromEntries(new URLSearchParams(body)) : (JSON.parse(body) as Record<string, string>);
    if (request.method !== "POST" || !this.#isClient(request.headers.authorization, parameters))
      return json(response, 401, { error: "invalid_client" });
    if (path === "/revoke") {
      this.revoked.push(`${parameters["token_type_hint"]} ${parameters["token"]}`);
      return json(response, 200, {});
    }
    this.tokenRequests.push(parameters);
    const { answers = "json" } = this.quirks;
    const isJson = answers === "json" || (answers === "negotiated" && request.headers.accept?.includes("application/json") === true);
    const say = (status: number, body: object): void => (isJson ? json : form)(response, status, body);
    if (parameters["grant_type"] === "authorization_code") return this.#exchange(parameters, say);
    if (parameters["grant_type"] === "client_credentials") return this.#issueToClient(parameters, say);
    const { refresh_token: token = "" } = parameters;
    if (this.quirks.detectsReuse === true && this.#used.has(token)) this.withdraw();
    if (parameters["grant_type"] !== "refresh_token" || token === "" || token !== this.refreshToken)
      return this.#refuse(this.quirks.refreshError, say);
    return this.#issue(undefined, say);
  }

  #refuse(error = "invalid_grant", say: Say): void {
    const { refusals } = this.quirks;
    if (refusals === undefined) return say(400, { error });
    return say(200, { ...(refusals === "ok" ? { ok: false } : {}), error });
  }

  #exchange(parameters: Readonly<Record<string, string>>, say: Say): void {
    const { code = "", redirect_uri: redirectUri, code_verifier: verifier } = parameters;
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = verifier === undefined ? undefined : createHash("sha256").update(verifier).digest("base64url");
    if (grant === undefined || grant.redirectUri !== redirectUri || grant.challenge !== challenge)
      return this.quirks.refusals === undefined
        ? say(400, { error: "invalid_grant", error_description: `code ${code}` })
        : this.#refuse(this.quirks.codeError, say);
    return this.#issue(grant, say);
  }

  /** RFC 6749, section 4.4: for the client itself. */
  #issueToClient({ scope = "", audience }: Readonly<Record<string, string>>, say: Say): void {
    const { clientScopes, audience: required, expiresIn = 3_600, fields } = this.quirks;
    if (clientScopes === undefined) return this.#refuse("unauthorized_client", say);
    const isUnknown = scope.split(" ").some((each) => each !== "" && !clientScopes.includes(each));
    if (isUnknown || audience !== required) return this.#refuse(isUnknown ? "invalid_scope" : "invalid_request", say);
    const token = `access-${++this.#count}`;
    return say(200, { access_token: token, token_type: "bearer", ...(expiresIn === null ? {} : { expires_in: expiresIn }), ...fields });
  }

  /** @param grant of a code; undefined: for a refresh token */
  #issue(grant: Grant | undefined, say: Say): void {
    const { hasRefreshToken = true, rotates = false, scopeSeparator = " ", nested, fields = {} } = this.quirks;
    const { expiresIn = hasRefreshToken ? "3600" : null } = this.quirks;
    this.#count++;
    const isReplaced = grant === undefined ? rotates : grant.hasRefreshToken;
    if (isReplaced) {
      this.#used.add(this.refreshToken);
      this.refreshToken = `refresh-${this.#count}`;
    }
    const tokens = {
      access_token: `access-${this.#count}`,
      token_type: "bearer",
      ...(expiresIn === null ? {} : { expires_in: expiresIn }),
      ...(isReplaced ? { refresh_token: this.refreshToken } : {}),
      ...(grant === undefined ? {} : { scope: grant.scopes.join(scopeSeparator) }),
    };
    return say(200, { ...(nested === undefined || grant === undefined ? tokens : { ok: true, [nested]: tokens }), ...fields });
  }

  #isClient(authorization: string | undefined, { client_id: id, client_secret: secret }: Readonly<Record<string, string>>): boolean {
    const { clientAuthentication = "basic" } = this.quirks;
    if (clientAuthentication === "body") return id === registered.clientId && secret === registered.clientSecret;
    const [name = "", password = ""] = Buffer.from(authorization?.replace(/^Basic /, "") ?? "", "base64")
      .toString()
      .split(":");
    if (clientAuthentication === "raw") return name === plain.clientId && password === plain.clientSecret;
    const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
    return decode(name) === registered.clientId && decode(password) === registered.clientSecret;
  }
}

type Say = (status: number, body: object) => void;

function form(response: ServerResponse, status: number, body: object): void {
  const fields = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]);
  response.writeHead(status, { "content-type": "application/x-www-form-urlencoded" }).end(new URLSearchParams(fields).toString());
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
