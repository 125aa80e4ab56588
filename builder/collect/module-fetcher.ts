import PQueue from "p-queue";
import { LimitExceeded } from "../../domain/errors.ts";
import { formatBytes } from "../limits.ts";
import type { Addresses, AddressedText } from "../ports.ts";
import type { CollectLimits } from "./limits.ts";

/** A module that was fetched, by its path on the server. */
export interface Fetched {
  readonly path: string;
  readonly text: string;
}

/** The files at the paths of one server, each requested once. */
export interface ModuleFetcher {
  /** By path without the leading slash. @throws what `Addresses.read` throws, LimitExceeded */
  read(path: string): Promise<AddressedText>;
  /** Without query and fragment, for messages. */
  addressOf(path: string): string;
}

interface Options {
  readonly addresses: Addresses;
  readonly origin: string;
  /** Already read, without another request. */
  readonly entry: Fetched;
  readonly limits: CollectLimits;
  readonly signal: AbortSignal;
}

export function createModuleFetcher({ addresses, origin, entry, limits, signal }: Options): ModuleFetcher {
  const queue = new PQueue({ concurrency: limits.parallel });
  const found: AddressedText = { outcome: "found", url: `${origin}/${entry.path}`, text: entry.text };
  const answers = new Map<string, Promise<AddressedText>>([[entry.path, Promise.resolve(found)]]);
  let bytes = 0;
  const addressOf = (path: string): string => `${origin}/${path}`;

  async function ask(path: string): Promise<AddressedText> {
    const url = new URL(origin);
    url.pathname = path.replaceAll("%", "%25");
    const answer = await queue.add(() => addresses.read(url.href, signal), { signal });
    if (answer.outcome === "missing") return answer;
    bytes += Buffer.byteLength(answer.text);
    if (bytes > limits.readBytes) throw tooMuch(`its server returned more than ${formatBytes(limits.readBytes)}`);
    // Sites that answer every address show a page where there is no file; no module begins like one.
    return isWebPage(answer.text) ? { outcome: "missing", status: 200 } : answer;
  }

  return {
    addressOf,
    read(path) {
      const known = answers.get(path);
      if (known !== undefined) return known;
      if (answers.size >= limits.requests) throw tooMuch(`it needs more than ${limits.requests} requests`);
      const asked = ask(path);
      // Callers that await it receive the failure; without one, it must not end the process as an unhandled rejection.
      asked.catch(() => undefined);
      answers.set(path, asked);
      return asked;
    },
  };
}

export const isWebPage = (text: string): boolean => /^\uFEFF?\s*<(!doctype\s+html|html[\s>])/i.test(text.slice(0, 1_000));

export function tooMuch(what: string): LimitExceeded {
  return new LimitExceeded(`the component is too large to be fetched: ${what}`, { code: "component_too_large" });
}
