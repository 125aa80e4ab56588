/**
 * What a service and a piece say to each other, as data:
 *
 *     services/*.ts ── cases ──▶ run.ts ── builds a package once, runs its members ──▶ isolate
 *                                   │                                                    │ https://api.example.com
 *                                   └── expects these requests ──▶ double.ts ◀── dial ───┘
 *
 * A case says which requests must arrive: method, host, path, query, headers, content type and parsed body, in the form of its protocol family.
 * Another request, another host, and one that does not arrive fail it. Write it from the documentation of the service, with short data of our
 * own. `*` in a query or as a part of a path is any value; `like` and `containing` compare what the case cannot know. A comment says where a
 * package differs from the documentation. `npm run generate` writes the table of docs/connectors.md from the cases.
 */

/** A request that must arrive. */
export interface ExpectedRequest {
  /** Method and address with its query: `POST https://api.example.com/v1/notes?draft=true`. */
  readonly request: string;
  /** Headers beside those of the protocol family, such as `content-type` of a body that is none of its kind. */
  readonly headers?: Fields;
  /** As parsed: a value of JSON, the fields of a form, text. */
  readonly body?: unknown;
  /** It goes to another service, or proves no account. */
  readonly unproven?: true;
  /** How the body is encoded, where the service differs from its family. */
  readonly encoding?: Encoding;
}

export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** A value of JSON. */
  readonly json?: unknown;
  /** Text of another type than JSON: HTML, unless `answerHeaders` say otherwise. */
  readonly text?: string;
  /** `dripping`: the body arrives byte by byte. `never`: nothing arrives. */
  readonly speed?: "dripping" | "never";
}

export type Exchange = ExpectedRequest & Answer;
export type Encoding = "json" | "form" | "multipart" | "text" | "none";
export type Fields = Readonly<Record<string, unknown>>;

/** How the services of a family authenticate, encode bodies, and report errors. */
export interface Family {
  readonly name: string;
  /** Headers that each request must have, and fields of its query. */
  readonly headers?: Fields;
  readonly query?: Readonly<Record<string, string>>;
  readonly encoding: Encoding;
  /** Content type of answers with `json`. */
  readonly answerType?: string;
  /** Headers of the protocol that `verify` knows. */
  readonly unsaidHeaders?: RegExp;
  /** Why a request does not prove its account, where that takes more than comparing. */
  readonly verify?: (request: ReceivedRequest) => string | undefined;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** A piece, the account that its cases use, and the family that its service belongs to. */
export interface Service {
  /** `airtable@0.2.0`, of `@activepieces/piece-airtable`; a name with `/` is that of the package. */
  readonly piece: string;
  readonly family: Family;
  /** Fields of the account. */
  readonly auth?: Fields;
  readonly cases: readonly Case[];
}

interface Common {
  readonly props?: Fields;
  /** The condition, for cases beside the first one of a member. */
  readonly when?: string;
  /** Limits of the run, where the case is about them. */
  readonly timeoutMs?: number;
}

export interface ActionCase extends Common {
  readonly action: string;
  readonly exchanges?: readonly Exchange[];
  readonly returns?: unknown;
  readonly throws?: unknown;
  /** The request that ended the wait of the step, of which the case is the second run. */
  readonly resumedBy?: Fields;
  /** What the step asks of its workflow. */
  readonly flow?: unknown;
  readonly responds?: unknown;
}

/** A call of a source, in the order in which a service and a timer would make them. */
export type SourceCall = {
  readonly exchanges?: readonly Exchange[];
  readonly emits?: readonly unknown[];
  readonly throws?: unknown;
} & (
  | { readonly call: "activate" | "deactivate" | "poll" | "renew" | "run" }
  | { readonly call: "deliver"; readonly deliver: Delivery; readonly responds?: unknown }
);

export interface Delivery {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface TriggerCase extends Common {
  readonly trigger: string;
  readonly calls: readonly SourceCall[];
}

/** A call while a user chooses the values of a member: the options of a prop, or the props that depend on other values. */
export interface ConfigureCase extends Common {
  readonly throws?: unknown;
  /** `action/…` or `trigger/…`. */
  readonly configures: string;
  /** The prop; absent: the additional props. */
  readonly options?: string;
  readonly exchanges?: readonly Exchange[];
  /** Options, or names and types of the additional props. */
  readonly gives?: unknown;
}

export type Case = ActionCase | TriggerCase | ConfigureCase;

/** A value that the case cannot know, such as a time or a signature. */
export class Like {
  readonly description: string;
  readonly accepts: (value: unknown) => boolean;
  constructor(description: string, accepts: (value: unknown) => boolean) {
    this.description = description;
    this.accepts = accepts;
  }
}

export const like = (pattern: RegExp): Like => new Like(String(pattern), (value) => typeof value === "string" && pattern.test(value));
/** Compares the named fields of an object alone. */
export const containing = (fields: Fields): Like =>
  new Like(JSON.stringify(fields), (value) =>
    Object.entries(fields).every(([name, expected]) => differences(expected, (value as Fields | null)?.[name]).length === 0),
  );

/** Where a value differs from the expected one: a line each. */
export function differences(expected: unknown, actual: unknown, path = ""): string[] {
  if (expected instanceof Like) return expected.accepts(actual) ? [] : [`${path}: ${shown(actual)} is not like ${expected.description}`];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) return [`${path}: ${shown(actual)} is not ${shown(expected)}`];
    return expected.flatMap((each, at) => differences(each, actual[at], `${path}[${at}]`));
  }
  if (isFields(expected) && isFields(actual)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...names].flatMap((name) => differences(expected[name], actual[name], `${path}.${name}`));
  }
  return Object.is(expected, actual) ? [] : [`${path}: ${shown(actual)} is not ${shown(expected)}`];
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => (JSON.stringify(value) as string | undefined)?.slice(0, 2_000) ?? "absent";

export const packageOf = ({ piece }: Service): { readonly name: string; readonly version: string } => {
  const at = piece.lastIndexOf("@");
  const name = piece.slice(0, at);
  return { name: name.includes("/") ? name : `@activepieces/piece-${name}`, version: piece.slice(at + 1) };
};

export function memberOf(each: Case): string {
  if ("configures" in each) return each.configures;
  return "action" in each ? `action/${each.action}` : `trigger/${each.trigger}`;
}

/** The name of a case, as tests show it. */
export function titleOf(each: Case): string {
  const subject =
    "configures" in each ? `${each.options === undefined ? "props" : `options of ${each.options}`} of ${memberOf(each)}` : memberOf(each);
  return `${"configures" in each ? "gives" : "runs"} ${subject}${each.when === undefined ? "" : `, when ${each.when}`}`;
}
