import { call } from "../../runtime/bridge.ts";
import { invalidArgument, unsupportedModule } from "../errors.ts";
import { nextTick } from "../timers/next-tick.ts";

interface LookupOptions {
  readonly family?: number | "IPv4" | "IPv6";
  readonly all?: boolean;
}
interface LookupAddress {
  readonly address: string;
  readonly family: number;
}
type Callback = (error: unknown, ...results: unknown[]) => void;

const recordTypes = {
  resolve4: "A",
  resolve6: "AAAA",
  resolveCaa: "CAA",
  resolveCname: "CNAME",
  resolveMx: "MX",
  resolveNaptr: "NAPTR",
  resolveNs: "NS",
  resolvePtr: "PTR",
  resolveSoa: "SOA",
  resolveSrv: "SRV",
  resolveTxt: "TXT",
} as const;
const codes = [
  "NODATA",
  "FORMERR",
  "SERVFAIL",
  "NOTFOUND",
  "NOTIMP",
  "REFUSED",
  "BADQUERY",
  "BADNAME",
  "BADFAMILY",
  "BADRESP",
  "CONNREFUSED",
  "TIMEOUT",
  "EOF",
  "FILE",
  "NOMEM",
  "DESTRUCTION",
  "BADSTR",
  "BADFLAGS",
  "NONAME",
  "BADHINTS",
  "NOTINITIALIZED",
  "LOADIPHLPAPI",
  "ADDRGETNETWORKPARAMS",
  "CANCELLED",
];

/** The host answers under its egress policy: a name with a private address is denied, not hidden. */
async function lookupPromise(host: string, given: LookupOptions | number = {}): Promise<LookupAddress | LookupAddress[]> {
  const options = typeof given === "number" ? { family: given } : (given ?? {});
  const family = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : (options.family ?? 0);
  const answer = (await call("dns", "lookup", host)) as LookupAddress[]; // made by the host's `dns`
  const addresses = family === 0 ? answer : answer.filter((address) => address.family === family);
  const [first] = addresses;
  if (first === undefined)
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), {
      code: "ENOTFOUND",
      syscall: "getaddrinfo",
      hostname: host,
    });
  return options.all === true ? addresses : first;
}

function lookup(host: string, ...rest: unknown[]): void {
  const callback = lastCallback(rest);
  const options = typeof rest[0] === "function" ? {} : (rest[0] as LookupOptions | number | undefined);
  lookupPromise(host, options).then(
    (answer) => nextTick(() => (Array.isArray(answer) ? callback(null, answer) : callback(null, answer.address, answer.family))),
    (error: unknown) => nextTick(() => callback(error)),
  );
}

Object.defineProperty(lookup, Symbol.for("nodejs.util.promisify.custom"), { value: lookupPromise });

async function resolvePromise(name: string, type = "A"): Promise<unknown> {
  return call("dns", type, name);
}

function withCallback(work: (...args: never[]) => Promise<unknown>): (...args: unknown[]) => void {
  return (...args) => {
    const callback = lastCallback(args);
    const given = args.slice(0, args.lastIndexOf(callback));
    Reflect.apply(work, undefined, given).then(
      (answer: unknown) => nextTick(() => callback(null, answer)),
      (error: unknown) => nextTick(() => callback(error)),
    );
  };
}

function lastCallback(args: readonly unknown[]): Callback {
  const callback = args.at(-1);
  if (typeof callback !== "function") throw invalidArgument("callback", "of type function", callback);
  return callback as Callback;
}

async function reverse(address: string): Promise<unknown> {
  const labels = address.includes(":") ? undefined : address.split(".").reverse().join(".");
  if (labels === undefined) throw Object.assign(new Error(`getHostByAddr EINVAL ${address}`), { code: "EINVAL" });
  return call("dns", "PTR", `${labels}.in-addr.arpa`);
}

const resolvers = Object.fromEntries(
  Object.entries(recordTypes).map(([name, type]) => [name, (host: string) => resolvePromise(host, type)]),
);
const serverSettings = {
  getServers: (): string[] => [],
  setServers: (): void => {},
  setDefaultResultOrder: (): void => {},
  getDefaultResultOrder: (): string => "verbatim",
};
const asPromises = { lookup: lookupPromise, resolve: resolvePromise, reverse, ...resolvers };
const asCallbacks = {
  lookup,
  resolve: withCallback(resolvePromise),
  reverse: withCallback(reverse),
  ...Object.fromEntries(Object.entries(resolvers).map(([name, work]) => [name, withCallback(work)])),
};

class PromiseResolver {
  constructor() {
    Object.assign(this, asPromises, serverSettings, { cancel: () => {} });
  }
}
class Resolver {
  constructor() {
    Object.assign(this, asCallbacks, serverSettings, { cancel: () => {} });
  }
}

const instead = "the host resolves names; use lookup or one of resolve4, resolveMx, …";
const constants = {
  ADDRCONFIG: 1024,
  ALL: 256,
  V4MAPPED: 2048,
  ...Object.fromEntries(codes.map((code) => [code, code === "EOF" ? "EOF" : `E${code}`])),
};

/** `node:dns/promises`. */
export const promises = {
  ...asPromises,
  ...serverSettings,
  ...constants,
  ...unsupportedModule("dns", ["lookupService", "resolveAny", "resolveTlsa"], instead),
  Resolver: PromiseResolver,
};

/** `node:dns`. */
export default {
  ...asCallbacks,
  ...serverSettings,
  ...constants,
  ...unsupportedModule("dns", ["lookupService", "resolveAny", "resolveTlsa"], instead),
  Resolver,
  promises,
};
