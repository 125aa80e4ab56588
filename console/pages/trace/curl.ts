interface SentRequest {
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

/** What is shown in place of a credential. */
const hidden = "***";

/** A text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request of a delivery as a command, without the headers whose values are hidden. */
export const curlOf = ({ url, headers, body }: SentRequest): string =>
  [
    `curl -X POST ${quoted(url)}`,
    ...headers.filter(({ value }) => value !== hidden).map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(" ");
