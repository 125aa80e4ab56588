/** `headwater/testing` of a new project: runs a component in its test, without a server. */
export const testingModule = `/** Runs components in tests. Dedupe, timers and deliveries are the server's: \`hw dev\` shows these. */

/** Runs a source once. @returns what it emitted and responded, and its db afterwards */
export async function runSource(source, { event, metadata, props = {}, db = {} } = {}) {
  const events = [];
  const state = new Map(Object.entries(db));
  const answer = { response: undefined };
  const self = instanceOf(source, props, state, answer);
  self.$emit = (value, options = {}) => void events.push({ event: JSON.parse(JSON.stringify(value ?? null)), ...options });
  const result = await source.run.call(self, event, metadata);
  return { events, response: answer.response, db: Object.fromEntries(state), result };
}

/** Runs an action once. @returns what it returned and exported */
export async function runAction(action, { props = {}, steps = {} } = {}) {
  const exports = {};
  const answer = { response: undefined };
  const $ = {
    export: (name, value) => void (exports[name] = value),
    respond: async (response) => void (answer.response = response),
    flow: { exit() {}, delay() {}, suspend() {}, rerun() {} },
    send: { http() {}, email() {}, emit() {}, s3() {}, sse() {} },
  };
  const result = await action.run.call(instanceOf(action, props, new Map(), answer), { $, steps });
  return { result, exports, response: answer.response };
}

function instanceOf(component, props, state, answer) {
  const database = { get: (key) => state.get(key), set: (key, value) => void (value === undefined ? state.delete(key) : state.set(key, value)) };
  const http = { endpoint: "http://127.0.0.1/", respond: (response) => void (answer.response = response) };
  const values = Object.entries(component.props ?? {}).map(([name, prop]) => {
    const type = typeof prop === "string" ? prop : prop.type;
    if (name in props) return [name, props[name]];
    if (type === "$.service.db") return [name, database];
    if (type === "$.interface.http") return [name, http];
    return [name, typeof prop === "string" ? undefined : prop.default];
  });
  return { ...component.methods, ...Object.fromEntries(values) };
}
`;

export const testingTypes = `import type { HttpResponse } from "./types.d.ts";

interface Component {
  run(...args: never[]): unknown;
}

export interface Emitted {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Only the component knows what it emits.
  readonly event: any;
  readonly id?: string | number;
  readonly name?: string;
  readonly summary?: string;
  readonly ts?: number;
}

export declare function runSource(
  source: Component,
  given?: {
    readonly event?: unknown;
    readonly metadata?: unknown;
    readonly props?: Readonly<Record<string, unknown>>;
    readonly db?: Readonly<Record<string, unknown>>;
  },
): Promise<{
  readonly events: readonly Emitted[];
  readonly response: HttpResponse | undefined;
  readonly db: Readonly<Record<string, unknown>>;
  readonly result: unknown;
}>;

export declare function runAction(
  action: Component,
  given?: { readonly props?: Readonly<Record<string, unknown>>; readonly steps?: Readonly<Record<string, unknown>> },
): Promise<{
  readonly result: unknown;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly response: HttpResponse | undefined;
}>;
`;

/** At run time the functions return what they are given; the builder has its own. */
export const typesModule = `export const defineSource = (source) => source;
export const defineAction = (action) => action;
export const defineApp = (app) => app;
`;
