import { isRunId } from "../invocation/run-id.ts";
import { suggestion } from "../nearest-name.ts";
import { runStatuses, type RunStatus } from "../workflow/run-state.ts";
import { searchTime, timeForms } from "./times.ts";
import { invalidQuery, termsOf, type Term } from "./terms.ts";

export const searchKinds = ["event", "log", "run", "error"] as const;
export type SearchKind = (typeof searchKinds)[number];

export const logLevels = ["error", "warn", "info", "log", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a query means. Everything that is set must hold for an item. */
export interface SearchQuery {
  /** In lower case. An item contains all of the first, and none of the second. */
  readonly words: readonly string[];
  readonly excluded: readonly string[];
  readonly events: boolean;
  readonly logs: boolean;
  /** A failed run is an error, and a run too. */
  readonly runs: "all" | "failed" | "none";
  readonly levels?: readonly LogLevel[];
  /** Ids, names, or globs of names with `*`, of sources and workflows. */
  readonly sources?: readonly string[];
  /** Of the run itself, or of the run that an event or line is of. */
  readonly statuses?: readonly RunStatus[];
  readonly run?: string;
  /** Of events. "" is the default channel. */
  readonly channel?: string;
  /** Epoch ms, inclusive. */
  readonly afterMs?: number;
  /** Epoch ms, exclusive. */
  readonly beforeMs?: number;
}

const maxWordLength = 200;
const fields = ["kind", "level", "source", "status", "run", "channel", "after", "before"] as const;
type Field = (typeof fields)[number];
const aliases: Readonly<Record<string, Field>> = { in: "kind", workflow: "source" };

/**
 * | term | an item matches if |
 * |---|---|
 * | `word`, `"a phrase"` | its text contains it, in any letter case |
 * | `-word`, `-"a phrase"` | its text does not contain it |
 * | `kind:event`, also `in:`; `log`, `run`, `error` | it is of this kind; an error is a run that failed |
 * | `level:error`; `warn`, `info`, `log`, `debug` | it is a line of this level; an error has the level `error` |
 * | `source:stripe*`, also `workflow:` | it is of a source or workflow with this id, or name or slug, where `*` is any text |
 * | `status:failed`; all states of runs | it is a run in this state, or an event or line of one |
 * | `run:r_…`, and `r_…` alone | it is this run, or an event or line of it |
 * | `channel:orders`, `channel:""` | it is an event of this channel; `""` is the default one |
 * | `after:-2h`, `before:2027-01-31` | it is not older than that; it is older than that |
 *
 * `kind`, `level`, `source` and `status` take several values, of which one must hold: `kind:log,error`. All terms must hold.
 *
 * @throws Malformed with the position of what is wrong
 */
export function parseSearch(text: string, nowMs: number): SearchQuery {
  const terms = termsOf(text);
  const given = fieldsOf(terms);
  const runs = terms.filter(({ field, isExcluded, isQuoted, value }) => field === undefined && !isExcluded && !isQuoted && isRunId(value));
  const runWord = given.has("run") ? undefined : runs[0];
  const words = terms.filter((term) => term.field === undefined && term !== runWord);
  for (const { value, at } of words) checkWord(value, at);
  const lower = (isExcluded: boolean) => words.filter((term) => term.isExcluded === isExcluded).map(({ value }) => value.toLowerCase());
  const run = runWord?.value ?? runOf(given.get("run"));
  const query = {
    words: lower(false),
    excluded: lower(true),
    ...kindsOf(given),
    ...optional("levels", oneOf(given.get("level"), "level", logLevels)),
    ...optional("sources", sourcesOf(given.get("source"))),
    ...optional("statuses", oneOf(given.get("status"), "status", runStatuses)),
    ...optional("run", run),
    ...optional("channel", channelOf(given.get("channel"))),
    ...optional("afterMs", timeOf(given.get("after"), nowMs)),
    ...optional("beforeMs", timeOf(given.get("before"), nowMs)),
  } as SearchQuery; // `optional` omits what is undefined.
  checkOrder(query, given.get("before"));
  return query;
}

/** The query of a live search, whose items are all new. @throws Malformed as parseSearch, and for `before` */
export function parseLiveSearch(text: string, nowMs: number): SearchQuery {
  const before = termsOf(text).find(({ field }) => field === "before");
  if (before !== undefined) throw invalidQuery("a live search finds what is new: leave out before", before.at);
  return parseSearch(text, nowMs);
}

const optional = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value });

function fieldsOf(terms: readonly Term[]): ReadonlyMap<Field, Term> {
  const given = new Map<Field, Term>();
  for (const term of terms) {
    if (term.field === undefined) continue;
    const field = aliases[term.field] ?? fields.find((known) => known === term.field);
    if (field === undefined) throw unknownField(term.field, term.at);
    if (term.isExcluded) throw invalidQuery(`only words can be excluded, not ${term.field}: leave out the -`, term.at);
    if (given.has(field)) throw invalidQuery(`${term.field} is given twice: write ${howToRepeat(field)}`, term.at);
    if (term.value === "" && field !== "channel") throw invalidQuery(`${term.field} has no value`, term.at);
    given.set(field, term);
  }
  return given;
}

const isList = (field: Field): boolean => ["kind", "level", "source", "status"].includes(field);
const howToRepeat = (field: Field): string => (isList(field) ? `${field}:one,other` : "it once");

function unknownField(name: string, at: number) {
  const hint = suggestion(name, [...fields, ...Object.keys(aliases)], `: use ${fields.join(", ")}.`);
  return invalidQuery(`'${name.slice(0, 40)}' is no field${hint} To search for the text itself, write it in quotes`, at);
}

function checkWord(value: string, at: number): void {
  if (value.trim() === "") throw invalidQuery("a phrase needs a character that is no space", at);
  if (value.length > maxWordLength) throw invalidQuery(`a word or phrase has more than ${maxWordLength} characters`, at);
  if (value.includes("\0")) throw invalidQuery("it must not contain U+0000", at);
}

const valuesOf = ({ value, isQuoted }: Term): readonly string[] => (isQuoted ? [value] : value.split(","));

function oneOf<Value extends string>(term: Term | undefined, field: string, known: readonly Value[]): readonly Value[] | undefined {
  return (
    term &&
    valuesOf(term).map((value) => {
      const found = known.find((each) => each === value.toLowerCase());
      if (found === undefined) throw invalidQuery(`${field} '${value.slice(0, 40)}' is unknown: use ${known.join(", ")}`, term.at);
      return found;
    })
  );
}

function sourcesOf(term: Term | undefined): readonly string[] | undefined {
  return (
    term &&
    valuesOf(term).map((value) => {
      if (value === "" || value.length > maxWordLength || value.includes("\0"))
        throw invalidQuery(`source needs an id or a name of 1 to ${maxWordLength} characters`, term.at);
      return value;
    })
  );
}

function runOf(term: Term | undefined): string | undefined {
  if (term !== undefined && !isRunId(term.value))
    throw invalidQuery(`run '${term.value.slice(0, 40)}' is invalid: it must be an id that begins with r_`, term.at);
  return term?.value;
}

function channelOf(term: Term | undefined): string | undefined {
  if (term?.value === "$errors" || term?.value === "$logs")
    throw invalidQuery(`write kind:${term.value === "$logs" ? "log" : "error"} instead of channel:${term.value}`, term.at);
  if (term !== undefined && (term.value.includes("\0") || (term.value === "" && !term.isQuoted)))
    throw invalidQuery('channel has no value: write channel:"" for the default channel', term.at);
  return term?.value;
}

function timeOf(term: Term | undefined, nowMs: number): number | undefined {
  if (term === undefined) return undefined;
  const at = searchTime(term.value, nowMs);
  if (at === undefined) throw invalidQuery(`time '${term.value.slice(0, 40)}' is invalid: ${timeForms}`, term.at);
  return at;
}

function checkOrder({ afterMs = -Infinity, beforeMs = Infinity }: SearchQuery, before: Term | undefined): void {
  if (afterMs >= beforeMs) throw invalidQuery("before must be later than after", before?.at ?? 0);
}

/** Levels are of lines and errors, channels of events: the query says so if nothing could be found. */
function kindsOf(given: ReadonlyMap<Field, Term>): Pick<SearchQuery, "events" | "logs" | "runs"> {
  const kinds = oneOf(given.get("kind"), "kind", searchKinds) ?? searchKinds;
  const [level, channel] = [given.get("level"), given.get("channel")];
  const levels = oneOf(level, "level", logLevels);
  const isPossible = (kind: SearchKind): boolean => {
    if (channel !== undefined && kind !== "event") return false;
    if (levels === undefined) return true;
    // `kind:run level:error` finds errors.
    return kind === "log" || (kind !== "event" && levels.includes("error"));
  };
  const possible = kinds.filter(isPossible);
  if (possible.length === 0)
    throw invalidQuery("channel is of events, and level of logs and errors: leave one of them out", (channel ?? level)?.at ?? 0);
  const isAll = possible.includes("run") && levels === undefined;
  return {
    events: possible.includes("event"),
    logs: possible.includes("log"),
    runs: isAll ? "all" : possible.includes("run") || possible.includes("error") ? "failed" : "none",
  };
}
