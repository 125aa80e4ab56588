import { isAddress } from "../../domain/mail/outgoing-mail.ts";

/** What HEADWATER_SMTP_URL says. */
export interface SmtpAddress {
  readonly host: string;
  readonly port: number;
  /** TLS from the start (`smtps:`). */
  readonly secure: boolean;
  /** Undefined: no login. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

const defaultPorts = { "smtp:": 587, "smtps:": 465 } as const;

/** Undefined if the text is no URL `smtp[s]://[user:password@]host[:port]`. */
export function parseSmtpUrl(text: string): SmtpAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== "smtp:" && protocol !== "smtps:") return undefined;
  const isPlain = hostname !== "" && ["", "/"].includes(pathname) && search === "" && hash === "";
  if (!isPlain || (username === "") !== (password === "")) return undefined;
  const [user, pass] = [decoded(username), decoded(password)];
  if (user === undefined || pass === undefined) return undefined;
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? defaultPorts[protocol] : Number(port),
    secure: protocol === "smtps:",
    login: user === "" ? undefined : { user, password: pass },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The sender of all mails. */
export interface Sender {
  /** Empty: none. */
  readonly name: string;
  readonly address: string;
}

/** `ada@example.com` or `Ada <ada@example.com>`; undefined for any other text. */
export function parseSender(text: string): Sender | undefined {
  const [, name = "", inner] = /^([^<>\p{Cc}]{0,200})<([^<>]+)>$/u.exec(text.trim()) ?? [];
  const address = (inner ?? text).trim();
  return isAddress(address) ? { name: name.trim().replace(/^"(.*)"$/u, "$1"), address } : undefined;
}
