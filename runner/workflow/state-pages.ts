import { fileLimits, fileRetries, type RunFiles, type RunOfFiles } from "../../domain/files/run-files.ts";
import { HeadwaterError, NotFound } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
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

/** How the commits of one run are written and read: with the large texts of its state as pages, parts of its files. */
export class StatePages {
  readonly #run: RunOfFiles;
  readonly #files: RunFiles | undefined;
  /** References of stored pages, by their text. */
  #references: ReadonlyMap<string, string> = new Map();
  /** The texts of the last commit that may be pages. One that the next commit does not have any more is not worth a page. */
  #last: ReadonlySet<string> = new Set();
  #pagedBytes = 0;

  /** @param files absent: there are no pages */
  constructor(run: RunOfFiles, files: RunFiles | undefined) {
    this.#run = run;
    this.#files = files;
  }

  async encode(commit: LastOfRun): Promise<Encoded> {
    const { state } = commit;
    const characters = state === null ? 0 : charactersOf(state);
    if (characters > maxStateCharacters) return { refusal: tooLarge(characters) };
    if (state === null || this.#files === undefined || !isLarge(characters)) {
      this.#last = state === null ? new Set() : pagesOf(state);
      return { text: JSON.stringify(commit) };
    }
    await this.#store(pagesOf(state), this.#files);
    const stored: StoredState = { ...withReferences(state, this.#references), pagedBytes: this.#pagedBytes };
    return { text: JSON.stringify({ ...commit, state: stored }) };
  }

  /** @throws Unavailable */
  async decode(text: string): Promise<LastOfRun> {
    const last = parseLast(text);
    if (last.state === null) return last;
    const { pagedBytes = 0, ...stored }: StoredState = last.state;
    this.#pagedBytes = pagedBytes;
    const references = referencesIn(stored);
    if (references.size === 0 || this.#files === undefined) {
      this.#last = pagesOf(stored);
      return { ...last, state: stored };
    }
    const files = this.#files;
    const read = [...references].map(async (reference) => [reference, await this.#read(reference, files)] as const);
    try {
      const texts = new Map(await Promise.all(read));
      this.#references = new Map([...texts].map(([reference, page]) => [page, reference]));
      const state = withTexts(stored, texts);
      this.#last = pagesOf(state);
      return { ...last, state };
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      return { ...last, state: { ...withTexts(stored, new Map()), isIncomplete: true } };
    }
  }

  /** What cannot be stored now stays in the commit. */
  async #store(pages: ReadonlySet<string>, files: RunFiles): Promise<void> {
    const references = new Map<string, string>();
    for (const page of pages) {
      const reference = this.#references.get(page) ?? (this.#last.has(page) ? await this.#write(page, files) : undefined);
      if (reference !== undefined) references.set(page, reference);
    }
    this.#references = references;
    this.#last = pages;
  }

  async #write(page: string, files: RunFiles): Promise<string | undefined> {
    const bytes = new TextEncoder().encode(page);
    if (this.#pagedBytes + bytes.length > maxPagedBytes) return undefined;
    const parts: string[] = [];
    try {
      for (let from = 0; from < bytes.length; from += fileLimits.partBytes)
        parts.push(await files.write(this.#run, bytes.subarray(from, from + fileLimits.partBytes)));
    } catch (error) {
      // A step that has ended must not run again because of it.
      if (error instanceof HeadwaterError) return undefined;
      throw error;
    }
    this.#pagedBytes += bytes.length;
    return referenceTo(parts);
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
