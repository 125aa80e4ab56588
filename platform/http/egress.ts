import { promises as dns } from "node:dns";
import type { LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { Forbidden, InvalidInput } from "../../domain/errors.ts";

/**
 * Decides which addresses user code and webhook deliveries may reach: public unicast, and the networks of the allow list.
 *
 * Callers do two things: `check` the host of a URL before connecting, because a literal address never reaches a lookup function; and
 * connect through `lookup`, which resolves once and returns exactly the addresses it checked, so that a hostile resolver is not asked
 * twice.
 */
export interface Egress {
  /** Non-public networks that may be reached, as CIDR. */
  readonly allow: readonly string[];
  /** One server that may be reached although its address is not public. */
  readonly server: EgressOptions["server"];
  /** Throws `egress_denied` for a literal address that may not be reached. Names pass: `lookup` checks what they resolve to. */
  check(hostOrAddress: string): void;
  /** For `node:http(s)` agents, `net.connect`, `tls.connect` and undici's `connect.lookup`. */
  readonly lookup: LookupFunction;
  /**
   * All addresses of a host (a name or a literal), all checked. Throws `egress_denied`, or the resolver's ENOTFOUND.
   * @param port to which a connection is to be opened; absent: not known
   */
  resolve(host: string, port?: number): Promise<readonly EgressAddress[]>;
}

export interface EgressAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export interface EgressOptions {
  /** Non-public networks that may be reached, as CIDR: `10.1.0.0/16`, `fd00::/8`. The value of HEADWATER_EGRESS_ALLOW. */
  readonly allow: readonly string[];
  /** One server that may be reached although its address is not public. */
  readonly server?: { readonly host: string; readonly port: number } | undefined;
  /** Returns all addresses of a name. Default: the system's resolver. */
  readonly resolver?: (host: string) => Promise<readonly EgressAddress[]>;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [address: Address, prefix: number];

/** Public by class, but not the internet: Azure's host agent has this address on every virtual machine. */
const neverPublic: readonly Network[] = [ipaddr.parseCIDR("168.63.129.16/32")];
/** The only IPv6 range assigned to global unicast (RFC 4291, IANA): excludes `::/96`, local NAT64, site-local and unassigned ranges. */
const globalUnicast: Network = ipaddr.parseCIDR("2000::/3");
/** Documentation prefix of RFC 9637. */
const documentation: Network = ipaddr.parseCIDR("3fff::/20");

/** Throws `invalid_input` when an entry of the allow list is not a CIDR. */
export function createEgress(options: EgressOptions): Egress {
  const allow = options.allow.map(parseNetwork);
  const resolver = options.resolver ?? systemResolver;

  function judge(host: string, address: string): void {
    if (!isReachable(address, allow)) throw denied(host);
  }

  function check(hostOrAddress: string): void {
    const host = bareHost(hostOrAddress);
    if (ipaddr.isValid(host)) judge(hostOrAddress, host);
  }

  async function resolve(host: string, port?: number): Promise<readonly EgressAddress[]> {
    const bare = bareHost(host);
    // Only by its address: a name may have others tomorrow.
    if (port !== undefined && port === options.server?.port && bare === options.server.host && ipaddr.isValid(bare)) return [literal(bare)];
    const addresses = ipaddr.isValid(bare) ? [literal(bare)] : await resolver(bare);
    for (const { address } of addresses) judge(host, address);
    if (addresses.length === 0) throw notFound(host);
    return addresses;
  }

  const lookup: LookupFunction = (host, lookupOptions, callback) => {
    resolve(host)
      .then((addresses) => ofFamily(host, addresses, lookupOptions.family))
      .then(
        (addresses) => {
          const [first] = addresses;
          if (lookupOptions.all === true) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ""),
      );
  };

  return { allow: options.allow, server: options.server, check, lookup, resolve };
}

function isReachable(text: string, allow: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  // `process` converts IPv4-mapped IPv6 to IPv4.
  const address = ipaddr.process(text);
  if (allow.some((network) => contains(network, address))) return true;
  if (address.range() !== "unicast" || neverPublic.some((network) => contains(network, address))) return false;
  return address.kind() === "ipv4" || (contains(globalUnicast, address) && !contains(documentation, address));
}

function contains([network, prefix]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefix);
}

function parseNetwork(text: string): Network {
  if (!ipaddr.isValidCIDR(text))
    throw new InvalidInput(`egress network '${text}' is invalid: write an address and a prefix length, such as 10.0.0.0/8`);
  return ipaddr.parseCIDR(text);
}

/**
 * Normalizes spellings that a resolver or socket accepts: brackets, a final dot, and (by the parser) `127.1`, `0x7f000001`, `2130706433`.
 */
function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function literal(text: string): EgressAddress {
  const address = ipaddr.process(text);
  return { address: address.toString(), family: address.kind() === "ipv4" ? 4 : 6 };
}

async function systemResolver(host: string): Promise<EgressAddress[]> {
  const answer = await dns.lookup(host, { all: true, verbatim: true });
  return answer.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

type Addresses = readonly [EgressAddress, ...EgressAddress[]];

function ofFamily(host: string, addresses: readonly EgressAddress[], requested: LookupOptions["family"]): Addresses {
  const family = requested === "IPv4" ? 4 : requested === "IPv6" ? 6 : (requested ?? 0);
  const [first, ...rest] = family === 0 ? addresses : addresses.filter((address) => address.family === family);
  if (first === undefined) throw notFound(host);
  return [first, ...rest];
}

/** Contains only the host: the caller must not learn what a private name resolves to. */
function denied(host: string): Forbidden {
  return new Forbidden(
    `egress to ${host} is denied: it has no public address; HEADWATER_EGRESS_ALLOW lists the private networks that may be reached, and HEADWATER_EGRESS_SERVER is one address and port`,
    { code: "egress_denied" },
  );
}

function notFound(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND", hostname: host });
}
