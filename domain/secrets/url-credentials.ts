import { InvalidInput } from "../errors.ts";

/** Replaces credentials in shown URLs, and refers to the stored ones in given URLs. */
export const maskedCredentials = "***";

/** Scheme, user information and the rest of an http URL. The user information ends at the last `@` before the path. */
const parts = /^(https?:\/\/)(?:([^/?#]*)@)?(.*)$/is;

export interface SplitUrl {
  /** Without credentials. */
  readonly url: string;
  /** `user:password`, decoded; `***` as it is. Undefined: the URL has none. */
  readonly credentials: string | undefined;
}

/** Separates `user:password@` from a URL. @throws InvalidInput that does not repeat it */
export function splitCredentials(text: string): SplitUrl {
  const [, scheme = "", userInfo = "", rest = text] = parts.exec(text) ?? [];
  const url = scheme + rest;
  if (userInfo === "" || userInfo === maskedCredentials) return { url, credentials: userInfo === "" ? undefined : userInfo };
  const [user = "", ...password] = userInfo.split(":");
  try {
    return { url, credentials: `${decodeURIComponent(user)}:${decodeURIComponent(password.join(":"))}` };
  } catch {
    throw new InvalidInput("the user name or password in the URL is not percent-encoded correctly: write % as %25, @ as %40 and : as %3A");
  }
}

/** Resources of earlier versions may have a URL with credentials, which were never sent. */
export const withoutCredentials = (text: string): string => text.replace(parts, "$1$3");

/** The URL as shown, with `***` if it has credentials. */
export function showCredentials(url: string, hasCredentials: boolean): string {
  return hasCredentials ? url.replace(/^https?:\/\//i, (scheme) => `${scheme}${maskedCredentials}@`) : url;
}

/** A text `user:password` (RFC 7617: the user's name has no colon). @throws InvalidInput that does not repeat it */
export function checkCredentials(text: string): string {
  // A control character would end the header.
  if (!text.includes(":") || /\p{Cc}/u.test(text))
    throw new InvalidInput("the credentials are invalid: they must be user:password, on one line");
  return text;
}
