import { LookupCache } from "../../domain/lookup-cache.ts";
import { hasMoved, type DeploymentEntry } from "../../domain/source/deployment.ts";
import { isWorkflow, type WorkflowEntry, type WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Deployments } from "./ports.ts";

const maxEntries = 10_000;

type Entry = DeploymentEntry | WorkflowEntry;

/** Caches the deployment entries of sources and workflows that ran recently. An entry that changes is evicted. */
export class DeploymentCache {
  readonly #entries: LookupCache<Entry>;

  constructor(deployments: Deployments) {
    this.#entries = new LookupCache({
      lookup: (name) => deployments.get(name),
      follow: async (onChange) => {
        await deployments.onChange(onChange);
        return { stop: () => Promise.resolve() };
      },
      onChange: "evict",
      maxEntries,
    });
  }

  /** @param onChange called for each source whose entry changed. Undefined: changes may have been missed, of any source. */
  start(onChange: (source: string | undefined) => void): Promise<void> {
    return this.#entries.start(onChange);
  }

  /** Reads the entry of a source again, even if no change was reported. */
  async reload(source: string): Promise<void> {
    await this.#entries.refresh(source);
  }

  /** Whether a source or workflow has an entry, also one that says that it has moved. Not a promise if it is cached. @throws Unavailable */
  isDeployed(name: string): boolean | Promise<boolean> {
    return (this.#entries.peek(name) ?? undefined) !== undefined || this.#entries.get(name).then((entry) => entry !== undefined);
  }

  /** The owner of a source or workflow; undefined when it was deleted or runs in another pool. Not a promise if it is cached. */
  ownerOf(source: string): string | undefined | Promise<string | undefined> {
    const cached = this.#entries.peek(source) ?? undefined;
    return cached === undefined ? this.#get(source, 0).then(ownerIn) : ownerIn(cached);
  }

  /** The entry of a workflow, if it is cached. */
  cachedWorkflow(workflow: string): WorkflowDeployment | undefined {
    const cached = this.#entries.peek(workflow) ?? undefined;
    return cached !== undefined && isWorkflow(cached) ? cached : undefined;
  }

  /** The cached entry if it has at least this generation: the common case must not cost a promise. */
  cached(source: string, generation = 0): DeploymentEntry | undefined {
    const cached = this.#entries.peek(source) ?? undefined;
    return isAtLeast(cached, generation) ? sourceEntry(cached) : undefined;
  }

  /** The entry of a source. @throws Unavailable when the stored entry is older than the generation */
  async get(source: string, generation = 0): Promise<DeploymentEntry | undefined> {
    return sourceEntry(await this.#get(source, generation));
  }

  /** The entry of a workflow, or of a version of one. @throws as `get` */
  async workflow(name: string, generation = 0): Promise<WorkflowEntry | undefined> {
    const cached = this.#entries.peek(name) ?? undefined;
    const entry = isAtLeast(cached, generation) ? cached : await this.#get(name, generation);
    return entry !== undefined && (hasMoved(entry) || isWorkflow(entry)) ? entry : undefined;
  }

  async #get(source: string, generation: number): Promise<Entry | undefined> {
    const cached = await this.#entries.get(source);
    if (isAtLeast(cached, generation)) return cached;
    const read = await this.#entries.refresh(source);
    if (read === undefined || isAtLeast(read, generation)) return read;
    const stored = hasMoved(read) ? "none" : read.generation;
    throw new Unavailable(`source ${source} needs generation ${generation}, and its deployment entry has ${stored}: trying again`);
  }
}

const ownerIn = (entry: Entry | undefined): string | undefined => (entry === undefined || hasMoved(entry) ? undefined : entry.owner);

const sourceEntry = (entry: Entry | undefined): DeploymentEntry | undefined =>
  entry !== undefined && isWorkflow(entry) ? undefined : entry;

/** An entry of a source that moved counts as new enough. */
const isAtLeast = (entry: Entry | undefined, generation: number): boolean =>
  entry !== undefined && (hasMoved(entry) || entry.generation >= generation);
