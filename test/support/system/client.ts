/** Calls of the REST API with one key. */
export interface Client {
  readonly key: string;
  /** Base of the REST API, with `/v1`. */
  readonly apiUrl: string;
  readonly ingressUrl: string;
  /** One call of the REST API. */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<Called<T>>;
}

export interface Called<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is empty or not JSON. */
  readonly body: T;
}

export const clientOf = (apiUrl: string, ingressUrl: string, key: string): Client => ({
  apiUrl,
  ingressUrl,
  key,
  call: (method, path, body) => call(apiUrl, key, method, path, body),
});

export async function call<T>(apiUrl: string, key: string, method: string, path: string, body?: unknown): Promise<Called<T>> {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(`${apiUrl}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: response.status, headers: response.headers, text, body: parsed as T }; // The caller names the expected type, and asserts the content.
}
