import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { NameQuery } from "../operations/network/network.ts";

/** Domains of private networks and clusters (RFC 6761, 6762, 8375, 9476; ICANN's `internal`): their name servers reveal what is in the network. */
const privateDomains = /(?:^|\.)(?:local|localhost|internal|home\.arpa|svc|lan|corp|intranet|private|test)$/;
/** ASCII characters that names do not contain. */
const strange = /[\0-)+,/:-@[-^`{-\x7f]/;

/** Asks the egress policy about a host. */
type Judge = (host: string) => Promise<unknown>;

/**
 * The records of a name as `dns.resolve` of Node returns them. The egress policy judges the addresses in them, so that names cannot be used
 * to map a private network.
 */
export async function recordsOf(type: Exclude<NameQuery, "lookup">, name: string, judge: Judge): Promise<unknown> {
  const plain = plainName(name);
  await refusePrivate(plain, judge);
  const records: unknown = await dns.resolve(plain, type);
  if (type === "A" || type === "AAAA") for (const address of records as string[]) await judge(address); // `resolve` of A answers strings
  return records;
}

/** Names of a private network, and addresses of one asked for by PTR. A name without a dot is one of this network. */
async function refusePrivate(name: string, judge: Judge): Promise<void> {
  const address = addressOf(name);
  if (address !== undefined && isIP(address) !== 0) await judge(address);
  else if (!name.includes(".") || name.endsWith(".arpa") || privateDomains.test(name)) {
    throw Object.assign(new Error("the name belongs to a private network; its records are not given out"), {
      code: "egress_denied",
    });
  }
}

/**
 * The one spelling of a name. Node takes letters and dots of any script for their plain ones (`router。lan`), and its resolver takes
 * escapes (`router\\.\\108an`): what is judged must be what is asked.
 */
function plainName(given: string): string {
  // What ends a host in an address would be cut off rather than refused.
  const name = strange.test(given) ? "" : domainToASCII(given).toLowerCase().replace(/\.$/, "");
  if (/^[a-z\d_*-]+(?:\.[a-z\d_*-]+)*$/.test(name)) return name;
  throw Object.assign(new Error("the name is not one that can be asked for"), { code: "EBADNAME" });
}

/** The address that a name of `in-addr.arpa` or `ip6.arpa` stands for. */
function addressOf(name: string): string | undefined {
  const four = /^((?:\d{1,3}\.){4})in-addr\.arpa$/.exec(name)?.[1];
  if (four !== undefined) return four.split(".").slice(0, 4).reverse().join(".");
  const six = /^((?:[\da-f]\.){32})ip6\.arpa$/.exec(name)?.[1];
  return six
    ?.replaceAll(".", "")
    .split("")
    .reverse()
    .join("")
    .replace(/(.{4})(?!$)/g, "$1:");
}
