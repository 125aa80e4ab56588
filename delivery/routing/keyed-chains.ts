interface Link {
  readonly action: (waitedMs: number) => Promise<void>;
  /** By `performance.now()`. */
  readonly since: number;
  readonly resolve: (acted: Promise<void>) => void;
  next: Link | undefined;
}

/** What waits behind the action that runs. */
interface Chain {
  first: Link | undefined;
  last: Link | undefined;
}

/**
 * Runs actions of one key one after the other, of different keys side by side. A key costs memory only while something runs. Each is
 * told how many milliseconds it has waited for those before it. What waits holds one promise, since thousands may.
 */
export class Chains {
  readonly #chains = new Map<string, Chain>();

  append(key: string, action: (waitedMs: number) => Promise<void>): Promise<void> {
    const chain = this.#chains.get(key);
    if (chain !== undefined) return new Promise((resolve) => append(chain, { action, since: performance.now(), resolve, next: undefined }));
    const begun: Chain = { first: undefined, last: undefined };
    this.#chains.set(key, begun);
    const next = (): void => {
      const link = takeFirst(begun);
      if (link === undefined) return void this.#chains.delete(key);
      const acted = link.action(performance.now() - link.since);
      link.resolve(acted);
      acted.then(next, next);
    };
    const acted = action(0);
    acted.then(next, next);
    return acted;
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
