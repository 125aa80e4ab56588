/** A text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request of a delivery as a command, without its signature. */
export const curlOf = ({ url, id, payload }: { readonly url: string; readonly id: string; readonly payload: unknown }): string =>
  [
    `curl -X POST ${quoted(url)}`,
    `-H ${quoted("content-type: application/json")}`,
    `-H ${quoted(`webhook-id: ${id}`)}`,
    `--data-raw ${quoted(JSON.stringify(payload))}`,
  ].join(" ");
