import { isHiddenHeader } from "../secrets/hidden-headers.ts";

/** Headers in the order in which they were sent; a name may occur several times. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What an attempt has sent and received, as it is stored with it: bounded, and without secrets. */
export interface Exchange {
  /** Without credentials. */
  readonly url: string;
  readonly sent: HeaderList;
  /** Absent: there was no response. */
  readonly response?: KeptResponse;
}

export interface KeptResponse {
  readonly headers: HeaderList;
  /** Some headers exceeded the bounds. */
  readonly areHeadersCut: boolean;
  readonly body: string;
  readonly encoding: "utf-8" | "base64";
  /** More followed, or the body ended early. */
  readonly isCut: boolean;
}

/** A response as a client returns it. */
export interface ReceivedResponse {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Its first {@link maxKeptBodyBytes} at most. */
  readonly body: Uint8Array;
  readonly isCut: boolean;
}

export const maxKeptBodyBytes = 16 * 1024;
const maxHeaders = 100;
/** Characters of names and values. */
const maxHeaderLength = 16 * 1024;

const mask = "***";

/** @param masked replaces secrets in a text */
export function exchangeOf(
  request: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  response: ReceivedResponse | undefined,
  masked: (text: string) => string,
): Exchange {
  const sent = Object.entries(request.headers).map(([name, value]) => [name, isHiddenHeader(name) ? mask : value] as const);
  return { url: request.url, sent, ...(response === undefined ? {} : { response: keptResponse(response, masked) }) };
}

function keptResponse({ headers, body, isCut }: ReceivedResponse, masked: (text: string) => string): KeptResponse {
  const kept: (readonly [string, string])[] = [];
  let [length, areHeadersCut] = [0, false];
  for (const [name, value] of listed(headers)) {
    length += name.length + value.length;
    areHeadersCut = kept.length === maxHeaders || length > maxHeaderLength;
    if (areHeadersCut) break;
    kept.push([name, isHiddenHeader(name) ? mask : masked(value)]);
  }
  return { headers: kept, areHeadersCut, ...keptBody(body, isCut, masked), isCut };
}

function listed(headers: ReceivedResponse["headers"]): HeaderList {
  return Object.entries(headers).flatMap(([name, given = []]) =>
    typeof given === "string" ? [[name, given] as const] : given.map((value) => [name, value] as const),
  );
}

/** Base64 unless the body is UTF-8 that a terminal can show: without control characters, which JSON would make six times as long. */
function keptBody(bytes: Uint8Array, isCut: boolean, masked: (text: string) => string): Pick<KeptResponse, "body" | "encoding"> {
  const text = decoded(bytes, isCut);
  if (text !== undefined && !/[^\P{Cc}\t\n\r]/u.test(text)) return { body: masked(text), encoding: "utf-8" };
  // One character for each byte, so that secrets are found in binary bodies too.
  const binary = masked(String.fromCharCode(...bytes));
  return { body: btoa(binary), encoding: "base64" };
}

/** Undefined: it is not UTF-8. The cut may be within a character, which is then left out. */
function decoded(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
