import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The token endpoint of a service that rotates refresh tokens, and voids a whole family when a token is used twice, as RFC 9700 asks for:
 * one that was lost or sent again cannot be repaired. Of a family with `rotates: false`, the first token stays valid.
 */
export class TokenFamilies {
  /** Families that were voided. */
  readonly voided: string[] = [];
  /** Refreshes that succeeded, by family. */
  readonly refreshed = new Map<string, number>();
  /** Called before each answer of a valid token. */
  beforeAnswer: (family: string) => Promise<void> = async () => undefined;
  readonly #server: Server;
  readonly #current = new Map<string, string>();
  readonly #constant = new Set<string>();

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => void this.#answer(new URLSearchParams(Buffer.concat(chunks).toString()), response)); // Never rejects.
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

  get tokenUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/token`; // Listening on TCP.
  }

  /** A new grant. @returns its first refresh token */
  grant(family: string, { rotates = true } = {}): string {
    const token = `${family}.0`;
    this.#current.set(family, token);
    if (!rotates) this.#constant.add(family);
    return token;
  }

  /** The only valid refresh token of the family; undefined: it was voided. */
  valid(family: string): string | undefined {
    return this.#current.get(family);
  }

  async #answer(parameters: URLSearchParams, response: ServerResponse): Promise<void> {
    const token = parameters.get("refresh_token") ?? "";
    const [family = "", number = ""] = token.split(".");
    const say = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (this.#current.get(family) !== token) {
      if (this.#current.delete(family)) this.voided.push(family);
      return say(400, { error: "invalid_grant" });
    }
    const next = `${family}.${Number(number) + 1}`;
    const isConstant = this.#constant.has(family);
    if (!isConstant) this.#current.set(family, next);
    this.refreshed.set(family, (this.refreshed.get(family) ?? 0) + 1);
    await this.beforeAnswer(family);
    return say(200, { access_token: `access-${next}`, expires_in: 3_600, ...(isConstant ? {} : { refresh_token: next }) });
  }
}
