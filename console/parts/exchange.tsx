import type { WholeAttempt } from "../../client/generated/operations.ts";
import { text } from "./strings.ts";

type Headers = NonNullable<WholeAttempt["request"]>["headers"];

/** The request of an attempt at a webhook, without its body. */
export function SentRequest({ request: { method, url, headers } }: { readonly request: NonNullable<WholeAttempt["request"]> }) {
  return (
    <>
      <p className="font-mono text-xs break-all">
        {method} {url}
      </p>
      <HeaderList label={text.requestHeaders} headers={headers} />
    </>
  );
}

/** What an endpoint answered. */
export function ReceivedResponse({ attempt }: { readonly attempt: WholeAttempt }) {
  const { request, response, response_status: status } = attempt;
  if (response === null)
    return <p className="text-sm text-muted">{request !== null && status === null ? text.noResponse : text.responseNotStored}</p>;
  const { headers, headers_cut: areHeadersCut, body, body_encoding: encoding, body_cut: isCut } = response;
  return (
    <>
      <p className="font-mono text-xs">HTTP {status}</p>
      <HeaderList label={text.responseHeaders} headers={headers} />
      {areHeadersCut && <p className="text-xs text-muted">{text.moreHeaders}</p>}
      {encoding === "base64" && <p className="text-xs text-muted">{text.base64}</p>}
      {body !== "" && (
        <pre
          className="max-h-[40dvh] overflow-auto rounded-md bg-page p-3 font-mono text-xs break-all whitespace-pre-wrap"
          tabIndex={0}
          role="group"
          aria-label={text.responseBody}
        >
          {body}
        </pre>
      )}
      {isCut && <p className="text-xs text-muted">{text.bodyCut}</p>}
    </>
  );
}

function HeaderList({ label, headers }: { readonly label: string; readonly headers: Headers }) {
  return (
    <ul aria-label={label} className="flex min-w-0 flex-col gap-0.5 font-mono text-xs">
      {headers.map(({ name, value }, index) => (
        // Names may repeat, and the list never changes.
        <li key={`${index} ${name}`} className="break-all">
          <span className="text-muted">{name}: </span>
          <bdi>{value}</bdi>
        </li>
      ))}
    </ul>
  );
}
