const jsonType = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const plainType = /^\s*text\/plain\s*(?:;|$)/i;

/**
 * Adds the `body` that `run` received to the stored event of an HTTP request, parsed from `bodyRaw` by content type. Other events are
 * returned as they are.
 *
 * The sandbox does the same in `runner/sandbox/guest/component/http-event.ts`, which can import nothing from here; a test compares the two.
 */
export function withParsedBody(event: unknown): unknown {
  if (!isObject(event) || typeof event["method"] !== "string" || typeof event["path"] !== "string") return event;
  const { headers, body, bodyRaw } = event;
  if (!isObject(headers) || body !== undefined || typeof bodyRaw !== "string") return event;
  const contentType = headers["content-type"];
  return { ...event, body: parseBody(bodyRaw, typeof contentType === "string" ? contentType : "") };
}

function parseBody(text: string, contentType: string): unknown {
  if (!jsonType.test(contentType) && !(plainType.test(contentType) && /^\s*[{[]/.test(text))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
