import { isIP } from "node:net";
import type { PeerCertificate } from "node:tls";
import { HeadwaterError } from "../../domain/errors.ts";
import { certificateOf } from "./connector.ts";

/** Why a request got no response. */
export interface ConnectionFailure {
  /** Code of Node, OpenSSL or undici; or ours, such as `egress_denied`. */
  readonly code: string;
  /**
   * Contains the host as the caller wrote it. Node's own messages are never repeated: they contain the address of a private name, or what
   * was sent.
   */
  readonly message: string;
}

/** Describes failed connections, in one place. @param address the requested http or https URL */
export function describeConnectionError(thrown: unknown, address: string): ConnectionFailure {
  const error = causeOf(thrown);
  if (error instanceof HeadwaterError) return { code: error.code, message: error.message };
  const code = codeOf(error);
  const target = targetOf(address);
  return {
    code,
    message: ofConnection(code, target) ?? ofCertificate(code, error, target.host) ?? `${target.place} cannot be reached (${code})`,
  };
}

interface Target {
  /** As written, without brackets. */
  readonly host: string;
  /** `example.com:443`. */
  readonly place: string;
}

function targetOf(address: string): Target {
  if (!URL.canParse(address)) return { host: "the address", place: "the address" };
  const { hostname, port, protocol } = new URL(address);
  return { host: hostname, place: `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}` };
}

/** The innermost error with a code: undici, oauth4webapi and Node (one error for all addresses of a name) wrap theirs. */
function causeOf(thrown: unknown): unknown {
  let error = thrown;
  for (let depth = 0; depth < 5; depth++) {
    if (error instanceof HeadwaterError || !(error instanceof Error)) return error;
    if (error instanceof AggregateError && error.errors.length > 0) error = error.errors[0];
    else if (error.cause instanceof Error && !hasKnownCode(error)) error = error.cause;
    else return error;
  }
  return error;
}

/** The cause of undici's connect timeout is the list of tried addresses. */
const hasKnownCode = (error: Error): boolean => "code" in error && typeof error.code === "string" && error.code.startsWith("UND_ERR_");

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

function ofConnection(code: string, { host, place }: Target): string | undefined {
  switch (code) {
    case "ENOTFOUND":
    case "ENODATA":
      return isIP(host) === 0 ? `the name ${host} does not resolve: check the spelling` : `${place} cannot be reached`;
    case "EAI_AGAIN":
      return `the name ${host} does not resolve now: its name server does not respond`;
    case "ECONNREFUSED":
      return `connection refused by ${place}: nothing listens there`;
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return `${place} closed the connection before it answered`;
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return `${place} did not accept a connection in time`;
    case "TimeoutError":
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return `${place} did not answer in time`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "EHOSTDOWN":
      return `no network route leads to ${place}`;
    default:
      return undefined;
  }
}

function ofCertificate(code: string, error: unknown, host: string): string | undefined {
  const certificate = error instanceof Error ? certificateOf(error) : undefined;
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return `the certificate of ${host} expired${dayOf(certificate?.valid_to)}`;
    case "CERT_NOT_YET_VALID":
      return `the certificate of ${host} is not valid yet${dayOf(certificate?.valid_from, ": only from")}`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return `the certificate of ${host} is self-signed: it is not issued by a trusted authority`;
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return `the certificate of ${host} is issued by ${issuerOf(certificate)}, which is not trusted here, or an intermediate certificate is missing`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `the certificate of ${host} is for other names${namesOf(certificate)}`;
    default:
      return ofOtherTls(code, host);
  }
}

function ofOtherTls(code: string, host: string): string | undefined {
  if (code.startsWith("ERR_SSL_") || code === "EPROTO")
    return `${host} does not speak TLS as expected (${code}): check whether it is an http URL`;
  return /^(CERT_|CRL_|UNABLE_TO_|INVALID_CA|PATH_LENGTH|HOSTNAME_)/.test(code)
    ? `the certificate of ${host} is not accepted (${code})`
    : undefined;
}

/** `valid_to` is such as `Nov 21 12:30:45 2026 GMT`. */
function dayOf(time: string | undefined, before = " on"): string {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? "" : `${before} ${new Date(ms).toISOString().slice(0, 10)}`;
}

const maxShown = 200;

function issuerOf(certificate: PeerCertificate | undefined): string {
  const { O: organization, CN: name } = certificate?.issuer ?? {};
  const issuer = name ?? organization;
  return issuer === undefined ? "an authority" : `'${String(issuer).slice(0, maxShown)}'`;
}

function namesOf(certificate: PeerCertificate | undefined): string {
  const names = certificate?.subjectaltname?.replaceAll(/(DNS|IP Address):/g, "");
  return names === undefined ? "" : `: ${names.slice(0, maxShown)}`;
}
