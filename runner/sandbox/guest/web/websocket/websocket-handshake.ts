import { call, sync } from "../../runtime/bridge.ts";
import type { Bytes } from "../encoding/bytes.ts";
import { btoa } from "../encoding/base64.ts";
import { DOMException } from "../events/dom-exception.ts";
import { encodeUtf8 } from "../encoding/utf8.ts";
import { URL } from "../url/url.ts";

const maxHeadBytes = 64 * 1024;

export const randomBytes = (count: number): Bytes => sync("random", count) as Bytes; // its result
const latin1 = (bytes: Bytes): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

/** WHATWG WebSockets, 3.1: `http` and `https` stand for `ws` and `wss`; a fragment is refused. */
export function parseUrl(given: unknown): InstanceType<typeof URL> {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  if (url === undefined) throw new DOMException(`Invalid URL: ${String(given)}`, "SyntaxError");
  if (url.protocol === "http:") url.protocol = "ws:";
  if (url.protocol === "https:") url.protocol = "wss:";
  if (url.protocol !== "ws:" && url.protocol !== "wss:")
    throw new DOMException(`Expected a ws: or wss: protocol, got ${url.protocol}`, "SyntaxError");
  if (url.hash !== "" || url.href.endsWith("#")) throw new DOMException("Got fragment", "SyntaxError");
  return url;
}

/** The opening handshake of a client (RFC 6455, 4.1). */
export class Handshake {
  readonly #key = btoa(latin1(randomBytes(16)));
  readonly #url: InstanceType<typeof URL>;
  readonly #protocols: readonly string[];
  #head = "";

  constructor(url: InstanceType<typeof URL>, protocols: readonly string[]) {
    this.#url = url;
    this.#protocols = protocols;
  }

  request(headers: readonly (readonly [string, string])[]): Bytes {
    const { host, pathname, search, username, password } = this.#url;
    const lines = [
      `GET ${pathname}${search} HTTP/1.1`,
      `Host: ${host}`,
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Key: ${this.#key}`,
      "Sec-WebSocket-Version: 13",
      ...(this.#protocols.length === 0 ? [] : [`Sec-WebSocket-Protocol: ${this.#protocols.join(", ")}`]),
      ...(username === "" ? [] : [`Authorization: Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}`]),
      ...headers.map(([name, value]) => `${name}: ${value}`),
    ];
    return encodeUtf8(`${lines.join("\r\n")}\r\n\r\n`);
  }

  /** Bytes after the response head; undefined until the head is complete. @throws if the server did not accept the upgrade */
  async read(bytes: Bytes): Promise<{ readonly protocol: string; readonly rest: Bytes } | undefined> {
    this.#head += latin1(bytes);
    const end = this.#head.indexOf("\r\n\r\n");
    if (end === -1 && this.#head.length > maxHeadBytes) throw new Error("the server's answer has no end");
    if (end === -1) return undefined;
    const [status = "", ...lines] = this.#head.slice(0, end).split("\r\n");
    const header = (name: string): string =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${name}:`))
        ?.replace(/^[^:]*:/, "")
        .trim() ?? "";
    if (!/^HTTP\/1\.1 101/.test(status)) throw new Error(`the server answered "${status}" and not 101`);
    const expected = (await call("subtle", "digest", ["SHA-1", encodeUtf8(`${this.#key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)])) as Bytes; // its result
    if (header("sec-websocket-accept") !== btoa(latin1(expected))) throw new Error("the server's answer is not to this request");
    const protocol = header("sec-websocket-protocol");
    if (protocol !== "" && !this.#protocols.includes(protocol))
      throw new Error(`the server chose a protocol that was not offered: ${protocol}`);
    const rest = Uint8Array.from(this.#head.slice(end + 4), (character) => character.charCodeAt(0));
    return { protocol, rest };
  }
}
