import type { KeyGrant, User } from "../ports.ts";
import type { TraceContext } from "../../../domain/traces.ts";

/** A request, without its caller. */
export interface AnonymousCall {
  /** Parameters of the path, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Query and body together; where both have a name, the query's value. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The unparsed fields of the body. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Parameters without a value, in the query or the body. In the query they count as absent. */
  readonly emptyParameters: readonly string[];
  /** Parent of all that the request causes, see domain/traces.ts. */
  readonly trace?: TraceContext | undefined;
  /** IP address of the client. */
  readonly address: string;
  /** Memory of the parsed body. */
  readonly memory?: { release(): void } | undefined;
}

/** Parses a request by the schemas of its operation. Handlers call these after checking access: 403 and 404 take precedence over 422. */
export interface Input<Query = unknown, Body = unknown> {
  /** @throws InvalidInput */
  query(): Query;
  /** @throws InvalidInput */
  body(): Body;
}

/** A request with its caller. */
export interface Call extends AnonymousCall {
  readonly user: User;
  /** Grant of the caller's API key. */
  readonly grant: KeyGrant;
  /** The caller's API key. */
  readonly key: { readonly id: string; readonly name: string };
  /** Of the web console; absent: the request has an API key. */
  readonly sessionId?: string | undefined;
}

/**
 * Releases the request's body and parameters. Call it before a wait of seconds, when everything is stored. The waiting function must not
 * hold parts of them in variables either, because a suspended function keeps all of its variables.
 */
export function dropBody(call: AnonymousCall): void {
  Object.assign(call, { fields: {}, parameters: {} });
  call.memory?.release();
}
