import type { Frame } from "./control.ts";
import type { Fork, Position, WorkflowRunState } from "./run-state.ts";

/**
 * A large state of a workflow run is stored in *pages* beside its commit: each is a text that does not change while the run has it, so that it
 * is written once and not with every commit. In the stored state a reference stands in its place. What a state has there are JSON texts, which
 * never begin with the character of a reference.
 */
const mark = "@";

/** A commit with fewer characters has all texts of its state. */
const maxInCommit = 262_144;
/** A text of an export, an event or a list is a page of its own from this length. Results of loops, each of which is short, share pages of it. */
const minPage = 8_192;
const minResultsPage = 65_536;

/** Characters of the texts that a run may have. Each step gets them, and runners hold them while a run is open. */
export const maxStateCharacters = 8 * 1_048_576;

export const isLarge = (commitCharacters: number): boolean => commitCharacters > maxInCommit;

/** @param parts names of parts, in order */
export const referenceTo = (parts: readonly string[]): string => mark + parts.join(",");
export const partsOfReference = (reference: string): readonly string[] => reference.slice(mark.length).split(",");
const isReference = (text: string | null): text is string => text !== null && text.startsWith(mark);

/** Characters of all texts that may be pages. */
export function charactersOf(state: WorkflowRunState): number {
  let characters = 0;
  const add = (text: string | null): void => void (characters += text?.length ?? 0);
  forTexts(state, add, (results) => results.forEach(add));
  return characters;
}

/** The texts of the pages of a large state. */
export function pagesOf(state: WorkflowRunState): ReadonlySet<string> {
  const pages = new Set<string>();
  const addLong = (text: string): void => void (text.length >= minPage && pages.add(text));
  forTexts(state, addLong, (results) => {
    for (const page of resultPages(results).pages) pages.add(JSON.stringify(page));
  });
  return pages;
}

/** The state with references in place of the pages that have one. @param references by text */
export function withReferences(state: WorkflowRunState, references: ReadonlyMap<string, string>): WorkflowRunState {
  return mapTexts(state, {
    text: (text) => (text.length >= minPage ? references.get(text) : undefined) ?? text,
    results: (results) => {
      const { pages, rest } = resultPages(results);
      const stored = pages.flatMap((page): readonly string[] => {
        const reference = references.get(JSON.stringify(page));
        return reference === undefined ? page : [reference];
      });
      return [...stored, ...rest];
    },
  });
}

export function referencesIn(state: WorkflowRunState): ReadonlySet<string> {
  const references = new Set<string>();
  const look = (text: string | null): void => void (isReference(text) && references.add(text));
  forTexts(state, look, (results) => results.forEach(look));
  return references;
}

/** The state with the texts of its references. @param texts by reference; without one, what was there is an empty object or list */
export function withTexts(state: WorkflowRunState, texts: ReadonlyMap<string, string>): WorkflowRunState {
  return mapTexts(state, {
    text: (text) => (isReference(text) ? (texts.get(text) ?? "{}") : text),
    results: (results) =>
      results.flatMap(
        (text): readonly (string | null)[] => (isReference(text) ? (JSON.parse(texts.get(text) ?? "[]") as readonly string[]) : [text]), // A page of results.
      ),
  });
}

/** Looks at each text. */
function forTexts(state: WorkflowRunState, text: (text: string) => void, results: (results: readonly (string | null)[]) => void): void {
  mapTexts(state, {
    text: (given) => {
      text(given);
      return given;
    },
    results: (given) => {
      results(given);
      return given;
    },
  });
}

interface Mapping {
  readonly text: (text: string) => string;
  readonly results: (results: readonly (string | null)[]) => readonly (string | null)[];
}

function mapTexts(state: WorkflowRunState, mapping: Mapping): WorkflowRunState {
  const { trigger } = state;
  return { ...mapPosition(state, mapping), trigger: { ...trigger, event: mapping.text(trigger.event) } };
}

function mapPosition<Place extends Position>(position: Place, mapping: Mapping): Place {
  const { steps, frames, fork } = position;
  return {
    ...position,
    steps: Object.fromEntries(Object.entries(steps).map(([name, exports]) => [name, mapping.text(exports)])),
    ...(frames === undefined ? {} : { frames: frames.map((frame) => mapFrame(frame, mapping)) }),
    ...(fork === undefined ? {} : { fork: mapFork(fork, mapping) }),
  };
}

function mapFrame(frame: Frame, { text, results: ofResults }: Mapping): Frame {
  const { items, results } = frame;
  return {
    ...frame,
    ...(items === undefined ? {} : { items: text(items) }),
    ...(results === undefined ? {} : { results: ofResults(results).map((result) => result ?? "null") }),
  };
}

function mapFork(fork: Fork, mapping: Mapping): Fork {
  const { items, results, branches } = fork;
  return {
    ...fork,
    ...(items === undefined ? {} : { items: mapping.text(items) }),
    results: mapping.results(results),
    branches: branches.map((branch) => mapPosition(branch, mapping)),
  };
}

/** Pages of the results before the first that is missing: from there on their borders would move. */
function resultPages(results: readonly (string | null)[]): {
  readonly pages: readonly (readonly string[])[];
  readonly rest: readonly (string | null)[];
} {
  const pages: string[][] = [];
  let [page, characters, end] = [[] as string[], 0, 0];
  for (const [index, result] of results.entries()) {
    if (result === null) break;
    page.push(result);
    characters += result.length;
    if (characters < minResultsPage) continue;
    pages.push(page);
    [page, characters, end] = [[], 0, index + 1];
  }
  return { pages, rest: results.slice(end) };
}
