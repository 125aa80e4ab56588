import { pageInfo, type CursorForm } from "../../../domain/page.ts";
import type { TraceContext } from "../../../domain/traces.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import type { KeyGrant } from "../../owners/ports.ts";
import type { Listed, User } from "../../ports.ts";

/** A request, without its caller. */
export interface Asked {
  /** Parameters of the path, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Query and body together; where both have a name, the query's value. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Query parameters without a value. They count as absent. */
  readonly emptyParameters: readonly string[];
  /** Parent of all that the request causes, see domain/traces.ts. */
  readonly trace?: TraceContext | undefined;
  /** Memory of the parsed body. */
  readonly memory?: { release(): void } | undefined;
}

/**
 * Releases the request's body and parameters. Call it before a wait of seconds, when everything is stored. The waiting function must not
 * hold parts of them in variables either, because a suspended function keeps all of its variables.
 */
export function dropBody(call: Asked): void {
  Object.assign(call, { body: {}, parameters: {} });
  call.memory?.release();
}

/** A request with its caller, as routes receive it. */
export interface Call extends Asked {
  readonly user: User;
  /** Grant of the caller's API key. */
  readonly grant: KeyGrant;
}

/** Response of a route. `handle` applies `include` and `exclude` to `data`, and adds the request's warnings. */
export type Reply<Data extends object = object> =
  | {
      readonly status: number;
      readonly body: { readonly data: Data; readonly page_info?: object; readonly warnings?: readonly Warning[] };
    }
  /** A body of another form, for clients that expect it. */
  | { readonly status: number; readonly json: object }
  | { readonly status: number; readonly text: string };

/** @typeParam Data the response's `data` */
export type Handle<Request extends Asked = Call, Data extends object = object> = (call: Request) => Promise<Reply<Data>>;

export const ok = <const Data extends object>(data: Data, warnings: readonly Warning[] = []): Reply<Data> => ({
  status: 200,
  body: { data, warnings },
});
/** The requested work is in progress. */
export const accepted = <const Data extends object>(data: Data): Reply<Data> => ({ status: 202, body: { data } });
/** A page of a list, with the cursors of adjacent pages. */
export function okPage<Item extends { readonly id: string }, Shown extends object>(
  { items, total }: Listed<Item>,
  show: (item: Item) => Shown,
  form?: CursorForm,
): Reply<readonly Shown[]> {
  const ids = items.map(({ id }) => id);
  return { status: 200, body: { page_info: pageInfo(ids, total, form), data: items.map(show) } };
}

export const noContent: Reply<never> = { status: 204, text: "" };
