import { isHiddenHeader } from "../secrets/hidden-headers.ts";

/** A name may occur several times. */
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

/**
 * What an attempt has sent and received, before its response is decoded and masked. That takes up to a millisecond, so it is only done for
 * what is kept.
 */
export interface RawExchange {
  readonly request: Exchange;
  /** Of headers and body of the response; undefined: there was none. */
  readonly responseBytes: number | undefined;
  withResponse(): Exchange;
}

export const maxKeptBodyBytes = 16 * 1024;
const maxHeaders = 100;
/** Characters of names and values. */
const maxHeaderLength = 16 * 1024;

const mask = "***";

/** @param maskOf makes what replaces secrets in a text */
export function rawExchange(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  response: ReceivedResponse | undefined,
  maskOf: () => (text: string) => string,
): RawExchange {
  const sent = Object.entries(headers).map(([name, value]) => [name, isHiddenHeader(name) ? mask : value] as const);
  const request = { url, sent };
  return {
    request,
    responseBytes: response && lengthOf(listed(response.headers)) + response.body.byteLength,
    withResponse: () => (response === undefined ? request : { ...request, response: keptResponse(response, maskOf()) }),
  };
}

export const lengthOf = (headers: HeaderList): number => headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);

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
