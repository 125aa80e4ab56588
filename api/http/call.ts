import { pageInfo, type CursorForm } from "../../domain/page.ts";
import type { TraceContext } from "../../domain/traces.ts";
import type { Warning } from "../../domain/warning.ts";
import type { KeyGrant } from "../owners/ports.ts";
import type { Listed, User } from "../ports.ts";

/** What is asked, whoever asks. */
export interface Asked {
  /** Parameters of the path, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Query and body together; where both have a name, the query's value. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Query parameters without a value. They count as absent. */
  readonly emptyParameters: readonly string[];
  /** What is done for it follows from this, see domain/traces.ts. */
  readonly trace?: TraceContext | undefined;
  /** Of the parsed body. */
  readonly memory?: { release(): void } | undefined;
}

/**
 * Lets go of what the request brought. To be called before a wait of seconds, when all of it is stored. The waiting function must not hold a
 * part of it in a variable either, since a suspended function keeps all of its variables.
 */
export function dropBody(call: Asked): void {
  Object.assign(call, { body: {}, parameters: {} });
  call.memory?.release();
}

/** A request as the routes see it. */
export interface Call extends Asked {
  readonly user: User;
  /** Of the key that the user came in by. */
  readonly grant: KeyGrant;
}

/** What a route answers. `include` and `exclude` are applied to `data` where the answer is written, and warnings of the request added. */
export type Reply<Data extends object = object> =
  | {
      readonly status: number;
      readonly body: { readonly data: Data; readonly page_info?: object; readonly warnings?: readonly Warning[] };
    }
  /** A body of another form, for clients that expect it. */
  | { readonly status: number; readonly json: object }
  | { readonly status: number; readonly text: string };

/** @typeParam Data what its answer has under `data` */
export type Handle<Request extends Asked = Call, Data extends object = object> = (call: Request) => Promise<Reply<Data>>;

export const ok = <const Data extends object>(data: Data, warnings: readonly Warning[] = []): Reply<Data> => ({
  status: 200,
  body: { data, warnings },
});
/** What is asked for is under way. */
export const accepted = <const Data extends object>(data: Data): Reply<Data> => ({ status: 202, body: { data } });
/** A page of a list, with the cursors to the next ones. */
export function okPage<Item extends { readonly id: string }, Shown extends object>(
  { items, total }: Listed<Item>,
  show: (item: Item) => Shown,
  form?: CursorForm,
): Reply<readonly Shown[]> {
  const ids = items.map(({ id }) => id);
  return { status: 200, body: { page_info: pageInfo(ids, total, form), data: items.map(show) } };
}

export const noContent: Reply<never> = { status: 204, text: "" };
