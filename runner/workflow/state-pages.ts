import { fileLimits, fileRetries, type RunFiles, type RunOfFiles } from "../../domain/files/run-files.ts";
import { HeadwaterError, NotFound, Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { RunError } from "../../domain/run-products.ts";
import { hasEnded, type WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { withAllResults } from "../../domain/workflow/fork-results.ts";
import {
  charactersOf,
  isLarge,
  maxStateCharacters,
  pagesOf,
  partsOfReference,
  referencesIn,
  referenceTo,
  withReferences,
  withTexts,
} from "../../domain/workflow/state-pages.ts";
import type { Encoded } from "../commit/source-commits.ts";
import { parseLast, type LastOfRun } from "./begin-run.ts";

/** A long loop replaces large exports at each round, and pages stay until the run has ended: then they are stored in its commits again. */
const maxPagedBytes = 64 * 1_048_576;

/** The state of a run as its commits have it. */
type StoredState = WorkflowRunState & {
  /** Of all pages that the run has stored so far. */
  readonly pagedBytes?: number;
};

/** What is known of the pages of a state. */
interface Known {
  /** References of stored pages, by their text. */
  readonly references: ReadonlyMap<string, string>;
  /** Its texts that may be pages. One that the next commit does not have any more is not worth a page. */
  readonly texts: ReadonlySet<string>;
}

const nothingKnown: Known = { references: new Map(), texts: new Set() };

/** How the commits of one run are written and read: with the large texts of its state as pages, parts of its files. */
export class StatePages {
  readonly #run: RunOfFiles;
  readonly #files: RunFiles | undefined;
  /** Of the last commit, and of the form of the next one that was encoded last, which may be refused. */
  #stored = nothingKnown;
  #encoded = nothingKnown;
  /** References of pages that were written for forms of the next commit, by their text. */
  readonly #written = new Map<string, string>();
  #pagedBytes = 0;
  /** While this run is open, no more pages are tried once one could not be stored: the commits wait for each. */
  #hasFailed = false;

  /** @param files absent: there are no pages */
  constructor(run: RunOfFiles, files: RunFiles | undefined) {
    this.#run = run;
    this.#files = files;
  }

  async encode(commit: LastOfRun): Promise<Encoded> {
    if (commit.state === null) return { text: JSON.stringify(commit) };
    const state = withAllResults(commit.state);
    const text = this.#textOf(commit, state);
    this.#encoded = nothingKnown;
    if (!isLarge(text.length)) return { text };
    const characters = charactersOf(state);
    if (characters > maxStateCharacters) return { refusal: tooLarge(characters) };
    const texts = pagesOf(state);
    const references = await this.#store(texts);
    this.#encoded = { references, texts };
    return { text: references.size === 0 ? text : this.#textOf(commit, withReferences(state, references)) };
  }

  #textOf(commit: LastOfRun, state: WorkflowRunState): string {
    const isCounted = this.#pagedBytes > 0 && !hasEnded(state.status);
    const stored: StoredState = isCounted ? { ...state, pagedBytes: this.#pagedBytes } : state;
    return JSON.stringify({ ...commit, state: stored });
  }

  /** The commit that was encoded last is stored. */
  onStored(): void {
    this.#stored = this.#encoded;
    this.#written.clear();
  }

  /** @throws Unavailable */
  async decode(text: string): Promise<LastOfRun> {
    const last = parseLast(text);
    if (last.state === null) return last;
    const { pagedBytes = 0, ...stored }: StoredState = last.state;
    this.#pagedBytes = pagedBytes;
    const texts = await this.#textsOf(referencesIn(stored));
    if (texts === undefined) return { ...last, state: { ...withTexts(stored, new Map()), isIncomplete: true } };
    const state = withTexts(stored, texts);
    this.#stored = { references: new Map([...texts].map(([reference, page]) => [page, reference])), texts: pagesOf(state) };
    return { ...last, state };
  }

  /** By reference; undefined if one is gone. @throws Unavailable */
  async #textsOf(references: ReadonlySet<string>): Promise<ReadonlyMap<string, string> | undefined> {
    if (references.size === 0) return new Map();
    const files = this.#files;
    if (files === undefined) throw new Unavailable(`run ${this.#run.run} has pages, and this runner has no store of files`);
    try {
      return new Map(await Promise.all([...references].map(async (reference) => [reference, await this.#read(reference, files)] as const)));
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** References of the pages that are stored. The other texts stay in the commit. */
  async #store(pages: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const references = new Map<string, string>();
    for (const page of pages) {
      const known = this.#stored.references.get(page) ?? this.#written.get(page);
      const reference = known ?? (this.#stored.texts.has(page) ? await this.#write(page) : undefined);
      if (reference !== undefined) references.set(page, reference);
    }
    return references;
  }

  async #write(page: string): Promise<string | undefined> {
    const bytes = new TextEncoder().encode(page);
    if (this.#files === undefined || this.#hasFailed || this.#pagedBytes + bytes.length > maxPagedBytes) return undefined;
    const parts: string[] = [];
    try {
      for (let from = 0; from < bytes.length; from += fileLimits.partBytes) {
        const part = bytes.subarray(from, from + fileLimits.partBytes);
        parts.push(await this.#files.write(this.#run, part));
        this.#pagedBytes += part.length;
      }
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      // A step that has ended must not run again because of it.
      this.#hasFailed = true;
      return undefined;
    }
    const reference = referenceTo(parts);
    this.#written.set(page, reference);
    return reference;
  }

  async #read(reference: string, files: RunFiles): Promise<string> {
    const parts = partsOfReference(reference).map((part) => retry(() => files.read(this.#run, part), fileRetries));
    return Buffer.concat(await Promise.all(parts)).toString();
  }
}

const tooLarge = (characters: number): RunError => ({
  name: "LimitError",
  code: "commit_too_large",
  message: `the event and the exports of the run's steps have ${characters} characters of JSON: a run may have ${maxStateCharacters}; export less, or write files`,
});
