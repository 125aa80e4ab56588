import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { TokenBuckets } from "../../../domain/limits/token-bucket.ts";
import type { NameQuery } from "../operations/network/network.ts";
import { recordsOf } from "./records.ts";

/** The egress policy: which addresses components may reach. */
export interface EgressPolicy {
  /** Networks that may be reached although they are not public, as CIDR. */
  readonly allow: readonly string[];
  /** One server that may be reached although its address is not public. */
  readonly server?: { readonly host: string; readonly port: number } | undefined;
  /**
   * All addresses of a host (a name or a literal), all allowed. Throws `egress_denied`, or the resolver's error.
   * @param port to which a connection is to be opened; absent: not known
   */
  resolve(host: string, port?: number): Promise<readonly EgressAddress[]>;
}

export interface EgressAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Opens a connection to one of the addresses that the policy has allowed. */
export type Dial = (options: TcpNetConnectOpts) => Socket;

const connectTimeoutMs = 10_000;
/** A name may have thousands, and each attempt takes a quarter of a second. */
const maxAddresses = 16;
/** Requests of an owner: each takes some 0.2 ms of this process's thread, which all owners share. */
const requestRate = { perSecond: 400, burst: 2_000 };

/**
 * Resolves names and opens connections for components, under the egress policy. Owners share the resolver's threads, connections
 * in progress and this process's thread; each has a bounded share.
 */
export class Connector {
  readonly #egress: EgressPolicy;
  readonly #dial: Dial;
  readonly #names: FairSemaphore;
  readonly #connecting = new FairSemaphore({ permits: 2_048, permitsPerKey: 128, alone: { permits: 512, now: () => performance.now() } });
  readonly #rates = new TokenBuckets(requestRate);

  /** @param threads of the process's pool. libuv resolves names with half of them, and a hostile name server takes its time. */
  constructor(egress: EgressPolicy, threads: number, dial: Dial = connectTcp) {
    this.#egress = egress;
    this.#dial = dial;
    const permits = Math.max(1, Math.ceil(threads / 2) - 2);
    this.#names = new FairSemaphore({ permits, permitsPerKey: 2, alone: { permits: 4, now: () => performance.now() } });
  }

  /** Resolves when the owner's rate permits one more request. @param signal ends the wait */
  async admit(owner: string, signal: AbortSignal): Promise<void> {
    const waitMs = this.#rates.of(owner).reserve(performance.now());
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
  }

  /** A connected socket that is not read. @throws the errors of `Network` */
  connect(owner: string, host: string, port: number, signal: AbortSignal): Promise<Socket> {
    return this.#connecting.use(
      owner,
      async () => {
        const addresses = await this.#addressesOf(owner, host, signal, port);
        signal.throwIfAborted();
        return await reach(this.#dial, { host, addresses: addresses.slice(0, maxAddresses), port }, signal);
      },
      signal,
    );
  }

  /** @throws the errors of `Network` */
  async resolve(owner: string, query: NameQuery, name: string, signal: AbortSignal): Promise<unknown> {
    const addressesOf = (host: string): Promise<readonly EgressAddress[]> => this.#addressesOf(owner, host, signal);
    // A query takes no thread: the owner's rate, and its requests in progress in a process, bound them.
    if (query !== "lookup") return await recordsOf(query, name, addressesOf);
    return (await addressesOf(name)).map(({ address, family }) => ({ address, family }));
  }

  #addressesOf(owner: string, host: string, signal: AbortSignal, port?: number): Promise<readonly EgressAddress[]> {
    // An address needs no thread.
    if (isIP(host) !== 0) return this.#egress.resolve(host, port);
    return this.#names.use(owner, () => this.#egress.resolve(host, port), signal);
  }
}

interface Target {
  readonly host: string;
  readonly addresses: readonly EgressAddress[];
  readonly port: number;
}

/** Connects to one of exactly these addresses, IPv6 and IPv4 in turn (RFC 8305). */
function reach(dial: Dial, { host, addresses, port }: Target, signal: AbortSignal): Promise<Socket> {
  const [first, second] = addresses;
  const lookup: LookupFunction = (_host, { all }, done) => {
    if (all === true) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };
  return new Promise((resolve, reject) => {
    // Node looks up no literal address: the only address is given as it was judged.
    const socket = dial({ host: second === undefined && first !== undefined ? first.address : host, port, lookup, noDelay: true });
    // Otherwise Node reads as soon as it is connected, and what it has read would be lost when the descriptor is passed on.
    socket.pause();
    const abort = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    socket.setTimeout(connectTimeoutMs, () =>
      socket.destroy(Object.assign(new Error(`connect timeout after ${connectTimeoutMs} ms`), { code: "ETIMEDOUT" })),
    );
    const settle = (result: Error | undefined): void => {
      signal.removeEventListener("abort", abort);
      socket.setTimeout(0);
      socket.removeAllListeners();
      if (result === undefined) return resolve(socket);
      socket.on("error", () => {}); // The first error is reported.
      reject(result);
    };
    socket.once("error", settle);
    socket.once("close", () => settle(new Error("the socket was closed")));
    socket.once("connect", () => settle(undefined));
  });
}
