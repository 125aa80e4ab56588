import { z } from "zod";
import { exitCodes, Failure, usageFailure } from "../failure.ts";

/** What the API of the service has: the parts of its answers that are moved. */
const source = z.object({
  id: z.string().min(1).max(64),
  component_id: z.string().min(1).max(64),
  name: z.string().nullish(),
  configured_props: z.record(z.string(), z.unknown()).nullish(),
  active: z.boolean().nullish(),
});
const webhook = z.object({
  id: z.string().min(1).max(64),
  url: z.string(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  active: z.boolean().nullish(),
});
const subscription = z.object({
  emitter_id: z.string().min(1).max(64),
  listener_id: z.string().min(1).max(64),
  event_name: z.string().nullish(),
});
const component = z.object({ data: z.object({ code: z.string().nullish() }) });
export type HostedSource = z.output<typeof source>;
export type HostedWebhook = z.output<typeof webhook>;
export type HostedSubscription = z.output<typeof subscription>;

export interface HostedProject {
  readonly sources: readonly HostedSource[];
  readonly webhooks: readonly HostedWebhook[];
  readonly subscriptions: readonly HostedSubscription[];
  /** Source text by id of the component; absent: the service does not have it. */
  readonly code: ReadonlyMap<string, string>;
}

export interface HostedAccess {
  /** With `/v1`. */
  readonly api: string;
  readonly key: string;
  /** Id of an organization; absent: what the user has. */
  readonly org: string | undefined;
}

const timeoutMs = 30_000;
const maxAnswerBytes = 8 * 2 ** 20;
const pageSize = 100;
const maxItems = 5_000;

/** Reads all that can be moved, and changes nothing. @throws Failure that says which request failed, and why */
export async function readHosted(access: HostedAccess): Promise<HostedProject> {
  if (!/^https?:/.test(access.api) || !URL.canParse(access.api))
    throw usageFailure(`--api '${access.api}' is no address`, "give one with /v1, such as https://api.pipedream.com/v1");
  const of = access.org === undefined ? "/users/me" : `/orgs/${encodeURIComponent(access.org)}`;
  const sources = await list(access, `${of}/sources`, source);
  const code = new Map<string, string>();
  for (const id of new Set(sources.map(({ component_id }) => component_id))) {
    const found = await get(access, `/components/${encodeURIComponent(id)}`, [404]);
    const text = found === undefined ? undefined : parsed(component, found, `/components/${id}`).data.code;
    if (text) code.set(id, text);
  }
  return {
    sources,
    webhooks: await list(access, `${of}/webhooks`, webhook),
    subscriptions: await list(access, `${of}/subscriptions`, subscription),
    code,
  };
}

const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), page_info: z.object({ total_count: z.number(), end_cursor: z.string().nullish() }).nullish() });

/** All pages, the oldest first: names are given in this order. */
async function list<Item extends z.ZodType>(access: HostedAccess, path: string, item: Item): Promise<readonly z.output<Item>[]> {
  const all: z.output<Item>[] = [];
  for (let after = ""; ;) {
    const query = `?limit=${pageSize}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
    const { data, page_info: page } = parsed(pageOf(item), await get(access, path + query), path);
    all.push(...data);
    if (all.length > maxItems) throw new Failure(`${path} has more than ${maxItems} entries: move them by another program`);
    // Some lists come whole.
    if (page == null || page.end_cursor == null || data.length === 0 || all.length >= page.total_count) return all.toReversed();
    after = page.end_cursor;
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, answer: unknown, path: string): z.output<Schema> {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Failure(`the answer to ${path} has another form: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "it is invalid"}`);
}

/** @param absent statuses for which the result is undefined */
async function get({ api, key }: HostedAccess, path: string, absent: readonly number[] = []): Promise<unknown> {
  const url = api.replace(/\/$/, "") + path;
  const unreachable = (cause: unknown): Failure =>
    new Failure(`${api} cannot be reached: ${reasonOf(cause)}`, { exitCode: exitCodes.unreachable, cause });
  // A key is not given to another address.
  const options = { headers: { authorization: `Bearer ${key}` }, redirect: "error", signal: AbortSignal.timeout(timeoutMs) } as const;
  const response = await fetch(url, options).catch((error: unknown) => {
    throw unreachable(error);
  });
  const text = await textOf(response, path).catch((error: unknown) => {
    throw error instanceof Failure ? error : unreachable(error);
  });
  if (absent.includes(response.status)) return undefined;
  if (response.status === 401) throw new Failure("the service refuses the key: set PIPEDREAM_API_KEY to one of its settings page");
  if (!response.ok) throw new Failure(`GET ${path} was answered with ${response.status}: ${text.slice(0, 300)}`);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Failure(`the answer to ${path} is not JSON: is ${api} the address of the API?`, { cause });
  }
}

/** `fetch` hides it in the cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  return cause instanceof Error ? cause.message : String(cause);
}

async function textOf(response: Response, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Failure(`the answer to ${path} has more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
