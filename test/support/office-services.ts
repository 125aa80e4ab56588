import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { OauthProvider } from "./oauth-provider.ts";

export interface ChatMessage {
  readonly id: number;
  readonly name: string;
  readonly text: string;
}

export type Row = Readonly<Record<"sheet" | "name" | "text", string>>;

type Answer = readonly [status: number, type: string, body: string, headers?: Readonly<Record<string, string>>];

const json = (status: number, body: unknown): Answer => [status, "application/json", JSON.stringify(body)];
const page = (title: string, body: string): Answer => [
  200,
  "text/html",
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>
body { font: 16px/1.5 sans-serif; margin: 48px auto; max-width: 640px; color: #222 }
a { display: inline-block; padding: 8px 20px; border-radius: 6px; background: #1c7c54; color: #fff; text-decoration: none }
table { border-collapse: collapse; width: 100% } td, th { border: 1px solid #bbb; padding: 6px 10px; text-align: left }
</style><h1>${title}</h1>${body}</html>`,
];

/**
 * The services that `fixtures/npm/piece-chat` and `piece-sheets` are connectors of. A person signs in at pages of theirs; tokens are those of
 * the strict {@link OauthProvider}.
 */
export class OfficeServices {
  readonly provider = new OauthProvider();
  readonly messages: ChatMessage[] = [];
  readonly rows: Row[] = [];
  readonly #server: Server;
  /** Where the registered client may be redirected to. */
  redirectUri = "";

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const [status, type, body, headers] = this.#answer(request, Buffer.concat(chunks).toString());
        response.writeHead(status, { "content-type": type, ...headers }).end(body);
      });
    });
  }

  async start(): Promise<this> {
    await this.provider.start();
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async stop(): Promise<void> {
    await this.provider.stop();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // Listening on TCP.
  }

  say(name: string, text: string): void {
    this.messages.unshift({ id: this.messages.length + 1, name, text });
  }

  #answer(request: IncomingMessage, body: string): Answer {
    const { pathname, search } = new URL(request.url ?? "", this.origin);
    const [, what = "", service = ""] = pathname.split("/");
    if (what === "authorize") {
      const asked = `<p>Headwater asks for access to your account <strong>ada@acme.example</strong>.</p>`;
      return page(`Acme ${service.charAt(0).toUpperCase()}${service.slice(1)}`, `${asked}<p><a href="/allow${search}">Allow</a></p>`);
    }
    if (what === "allow") {
      const back = this.provider.signIn(`${this.provider.origin}/authorize${search}`, this.redirectUri);
      return [302, "text/plain", "", { location: back.href }];
    }
    if (what === "sheet") {
      const rows = this.rows.map(({ name, text }) => `<tr><td>${name}</td><td>${text}</td></tr>`);
      return page("Acme Sheets: Requests", `<table><tr><th>Name</th><th>Text</th></tr>${rows.join("")}</table>`);
    }
    if (request.headers.authorization?.startsWith("Bearer access-") !== true) return json(401, { error: "the token is wrong" });
    if (what === "channels") return json(200, [{ id: "C1", name: "requests" }]);
    if (what === "messages") return json(200, this.messages);
    if (what !== "rows" || request.method !== "POST") return json(404, { error: `${request.method} ${pathname} is unknown` });
    this.rows.push(JSON.parse(body) as Row);
    return json(201, { row: this.rows.length });
  }
}
