import { Agent, request } from "undici";
import type { AddressedText, Addresses } from "../../builder/ports.ts";
import { HeadwaterError, InvalidInput, LimitExceeded, Unavailable } from "../../domain/errors.ts";
import { describeConnectionError } from "./connection-error.ts";
import { createConnector } from "./connector.ts";
import type { Egress } from "./egress.ts";

export interface TextReaderOptions {
  readonly egress: Egress;
  readonly maxBytes: number;
  /** Per request; redirects are separate requests. */
  readonly timeoutMs: number;
}

const maxRedirects = 5;

/**
 * Implements the port `Addresses`: reads texts from http and https URLs that the egress policy allows. Follows redirects and checks each
 * target. Messages omit query, fragment and credentials of URLs, which may be secret.
 */
export function createTextReader(options: TextReaderOptions): Addresses & { close(): Promise<void> } {
  const { egress, timeoutMs, maxBytes } = options;
  const agent = new Agent({ connect: createConnector(egress.lookup, { timeout: timeoutMs }), maxResponseSize: maxBytes });
  return {
    async read(address, signal) {
      try {
        return await follow(new URL(address), options, agent, signal);
      } catch (error) {
        throw explain(address, error, options);
      }
    },
    close: () => agent.destroy(),
  };
}

async function follow(first: URL, { egress, timeoutMs }: TextReaderOptions, agent: Agent, signal: AbortSignal): Promise<AddressedText> {
  let url = first;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new InvalidInput(`'${shown(url.href)}' cannot be fetched: only http and https addresses can`);
    egress.check(url.hostname);
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const location = headers["location"];
    if (statusCode >= 300 && statusCode < 400 && typeof location === "string") {
      await body.dump();
      url = new URL(location, url);
      continue;
    }
    if (statusCode === 200) return { outcome: "found", url: url.href, text: await body.text() };
    await body.dump();
    if (statusCode >= 400 && statusCode < 500 && statusCode !== 429) return { outcome: "missing", status: statusCode };
    throw new Unavailable(`'${shown(url.href)}' answered ${statusCode}: try again`, { code: "address_unreachable" });
  }
  throw new InvalidInput(`'${shown(first.href)}' redirects more than ${maxRedirects} times`);
}

function explain(address: string, error: unknown, { maxBytes }: TextReaderOptions): Error {
  if (error instanceof HeadwaterError) return error;
  const where = shown(address);
  if (error instanceof TypeError) return new InvalidInput(`'${where}' is not a URL that can be fetched`, { cause: error });
  if (error instanceof Error && "code" in error && error.code === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
    return new LimitExceeded(`the content of '${where}' is larger than ${maxBytes} bytes`, { cause: error });
  const { message } = describeConnectionError(error, address);
  return new Unavailable(`'${where}' cannot be fetched: ${message}`, { code: "address_unreachable", cause: error });
}

function shown(address: string): string {
  if (!URL.canParse(address)) return address.slice(0, 200).replace(/[?#].*$/s, "");
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
