import ipaddr from "ipaddr.js";

/**
 * The proxies in front of us whose X-Forwarded-* headers are believed: by their addresses, or as the number of proxies that each request
 * has passed. A number trusts every connecting client, so the server must be reachable only through these proxies.
 */
export type TrustedProxies = { readonly networks: readonly string[] } | { readonly hops: number };

export const noProxies: TrustedProxies = { networks: [] };

/** The parts of a request that show where it comes from. */
export interface Arrival {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly localPort?: number | undefined;
    /** True for TLS. */
    readonly encrypted?: boolean | undefined;
  };
}

export interface Client {
  readonly address: string;
  readonly protocol: "http" | "https";
  /** The same as headers, for user code: those of a trusted proxy, otherwise values of the connection. */
  readonly forwarded: Readonly<Record<"x-forwarded-for" | "x-forwarded-proto" | "x-forwarded-port", string>>;
}

type IsTrusted = (address: string, hop: number) => boolean;

/** @returns the client of a request. Forwarding headers count only when a trusted proxy sent them. */
export function clientReader(trusted: TrustedProxies): (arrival: Arrival) => Client {
  const isTrusted = trustOf(trusted);
  return ({ headers, socket }) => {
    const peer = plain(socket.remoteAddress ?? "");
    const port = String(socket.localPort ?? 80);
    const own = socket.encrypted === true ? "https" : "http";
    if (!isTrusted(peer, 0))
      return {
        address: peer,
        protocol: own,
        forwarded: { "x-forwarded-for": peer, "x-forwarded-proto": own, "x-forwarded-port": port },
      };
    const [chain, given] = [headerOf(headers, "x-forwarded-for"), headerOf(headers, "x-forwarded-proto")];
    const address = clientOf(peer, chain, isTrusted);
    const protocol = (given === "" ? own : given).split(",", 1)[0]?.trim().toLowerCase() === "https" ? "https" : "http";
    const defaultPort = given === "" ? port : protocol === "https" ? "443" : "80";
    return {
      address,
      protocol,
      forwarded: {
        "x-forwarded-for": chain === "" ? address : chain,
        "x-forwarded-proto": given === "" ? protocol : given,
        "x-forwarded-port": headerOf(headers, "x-forwarded-port") || defaultPort,
      },
    };
  };
}

/** Returns whether forwarding headers from this address are trusted. */
export function trustsPeer(trusted: TrustedProxies): (address: string) => boolean {
  const isTrusted = trustOf(trusted);
  return (address) => isTrusted(plain(address), 0);
}

/** Addresses of one network count as one caller: a client with an IPv6 address usually has a whole /56 of them. */
export function networkOf(given: string): string {
  const address = plain(given);
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address;
  const bytes = ipaddr.IPv6.parse(address).toByteArray();
  return `${ipaddr.fromByteArray([...bytes.slice(0, 7), ...Array.from({ length: 9 }, () => 0)]).toString()}/56`;
}

/** Each proxy appends the address that called it: the client is the right-most address that is not a trusted proxy. */
function clientOf(peer: string, chain: string, isTrusted: IsTrusted): string {
  const entries = chain.split(",");
  let address = peer;
  for (let hop = 0; hop < entries.length && isTrusted(address, hop); hop++) {
    const next = parseEntry(entries[entries.length - 1 - hop] ?? "");
    if (next === undefined) break;
    address = next;
  }
  return address;
}

function trustOf(trusted: TrustedProxies): IsTrusted {
  if ("hops" in trusted) return (_address, hop) => hop < trusted.hops;
  const networks = trusted.networks.map((network) => ipaddr.parseCIDR(network));
  if (networks.length === 0) return () => false;
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
}

/** Parses an address with or without a port, IPv6 with or without brackets. Undefined for anything else, such as `unknown`. */
function parseEntry(entry: string): string | undefined {
  const text = entry.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  const isAddress = bare.includes(":") ? ipaddr.IPv6.isValid(bare) : ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isAddress ? plain(bare) : undefined;
}

/** Converts an IPv4-mapped IPv6 address, as of a dual-stack socket, to IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");

function headerOf(headers: Arrival["headers"], name: string): string {
  const value = headers[name];
  return value === undefined ? "" : String(value).trim();
}
