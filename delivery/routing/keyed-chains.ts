interface Link {
  readonly action: (waitedMs: number) => Promise<void>;
  /** Time base of `performance.now()`. */
  readonly since: number;
  readonly resolve: (result: Promise<void>) => void;
  next: Link | undefined;
}

/** The actions that wait behind the running one, as a linked list. */
interface Chain {
  first: Link | undefined;
  last: Link | undefined;
}

/**
 * Runs the actions of one key one after the other, and those of different keys concurrently. A key uses memory only while an action runs.
 * A waiting action holds one promise, because thousands may wait.
 */
export class KeyedChains {
  readonly #chains = new Map<string, Chain>();

  /** @param action receives the milliseconds that it waited for earlier actions. @returns its result */
  append(key: string, action: (waitedMs: number) => Promise<void>): Promise<void> {
    const chain = this.#chains.get(key);
    if (chain !== undefined) return new Promise((resolve) => append(chain, { action, since: performance.now(), resolve, next: undefined }));
    const started: Chain = { first: undefined, last: undefined };
    this.#chains.set(key, started);
    const runNext = (): void => {
      const link = takeFirst(started);
      if (link === undefined) return void this.#chains.delete(key);
      const result = link.action(performance.now() - link.since);
      link.resolve(result);
      result.then(runNext, runNext);
    };
    const result = action(0);
    result.then(runNext, runNext);
    return result;
  }
}

function append(chain: Chain, link: Link): void {
  if (chain.last === undefined) chain.first = link;
  else chain.last.next = link;
  chain.last = link;
}

function takeFirst(chain: Chain): Link | undefined {
  const { first } = chain;
  chain.first = first?.next;
  if (chain.first === undefined) chain.last = undefined;
  return first;
}
