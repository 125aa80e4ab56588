import { Resolver } from "node:dns/promises";

/** Of one message. SPF of a large provider takes ten, DKIM one for each signature, DMARC up to nine. */
const maxLookups = 50;
/** Bytes of an answer. The TXT records of a large company's domain have 5 KB together. */
const maxAnswerBytes = 16 * 1024;
/** Of the key of a signature: one of RSA with 8,192 bits has 1.5 KB. */
const maxKeyBytes = 4 * 1024;
/** Characters of a name (RFC 1035). */
export const maxNameLength = 253;
/** Milliseconds of the first attempt at a server. */
const attemptMs = 1_500;

export interface MailDnsLimits {
  /** Addresses of the servers, with ports if not 53; empty: those of the system. */
  readonly servers: readonly string[];
  readonly maxMs: number;
}

/**
 * The lookups for one message, whose sender and those that it names choose the names and the answers: bounded in number, size and time. An
 * answer beyond a bound, and each at the end of the time, is an error as of a server that does not work.
 */
export class MailDns {
  readonly #resolver = new Resolver({ timeout: attemptMs, tries: 2 });
  readonly #ended = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #lookups = 0;
  #hasEnded = false;

  constructor({ servers, maxMs }: MailDnsLimits) {
    if (servers.length > 0) this.#resolver.setServers(servers);
    this.#timer = setTimeout(() => this.end(), maxMs);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @throws Error with a `code` as of `node:dns` */
  readonly resolve = async (name: string, type: string): Promise<string[][] | string[]> => {
    if (this.#hasEnded) throw failure("ETIMEOUT", "there is no time left");
    if (name.length > maxNameLength) throw failure("EBADNAME", `a name has more than ${maxNameLength} characters`);
    if (++this.#lookups > maxLookups) throw failure("ECANCELLED", `a message needs more than ${maxLookups} lookups`);
    const answer = (await this.#resolver.resolve(name, type)) as string[][] | string[]; // Those of the types that mailauth asks for.
    const [bytes, most] = [bytesOf(answer), name.includes("._domainkey.") ? maxKeyBytes : maxAnswerBytes];
    if (bytes > most) throw failure("EBADRESP", `an answer has ${bytes} bytes: it may have ${most}`);
    return answer;
  };

  /** @returns the result of the task, or the other one if it fails or takes too long */
  within<Result>(task: Promise<Result>, otherwise: () => Result): Promise<Result> {
    return Promise.race([task.catch(otherwise), this.#ended.promise.then(otherwise)]);
  }

  /** Lookups in progress fail. */
  end(): void {
    clearTimeout(this.#timer);
    this.#hasEnded = true;
    this.#resolver.cancel();
    this.#ended.resolve();
  }
}

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

const bytesOf = (answer: unknown): number => Buffer.byteLength(JSON.stringify(answer));
