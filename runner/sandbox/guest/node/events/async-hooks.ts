import EventEmitter from "./events.ts";

type Work = (...args: unknown[]) => unknown;

interface Entry {
  readonly storage: AsyncLocalStorage;
  readonly store: unknown;
}

// What runs now, innermost last. An isolate offers no hook on `await`, so a store cannot follow one continuation among many:
// `run` with an asynchronous callback keeps its store current until the promise settles. That is exact for one such call at a
// time, nested or one after the other; overlapping calls all see the latest store.
let active: Entry[] = [];

function leave(entry: Entry): void {
  active = active.filter((one) => one !== entry);
}

function within(entries: readonly Entry[], work: Work, args: unknown[], self?: unknown): unknown {
  const before = active;
  active = [...entries];
  try {
    return Reflect.apply(work, self, args);
  } finally {
    active = before;
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";

export class AsyncLocalStorage {
  readonly name: string;
  readonly #fallback: unknown;
  constructor(options: { name?: string; defaultValue?: unknown } = {}) {
    this.name = options.name ?? "";
    this.#fallback = options.defaultValue;
  }
  run(store: unknown, work: Work, ...args: unknown[]): unknown {
    const entry = { storage: this, store };
    active = [...active, entry];
    let result: unknown;
    try {
      result = work(...args);
    } catch (error) {
      leave(entry);
      throw error;
    }
    if (!isThenable(result)) {
      leave(entry);
      return result;
    }
    const done = (): void => leave(entry);
    result.then(done, done);
    return result;
  }
  exit(work: Work, ...args: unknown[]): unknown {
    return this.run(this.#fallback, work, ...args);
  }
  getStore(): unknown {
    const entry = active.findLast((one) => one.storage === this);
    return entry === undefined ? this.#fallback : entry.store;
  }
  enterWith(store: unknown): void {
    active = [...active.filter((one) => one.storage !== this), { storage: this, store }];
  }
  disable(): void {
    active = active.filter((one) => one.storage !== this);
  }
  static bind(work: Work): Work {
    const entries = active;
    return function (this: unknown, ...args) {
      return within(entries, work, args, this);
    };
  }
  static snapshot(): (work: Work, ...args: unknown[]) => unknown {
    const entries = active;
    return (work, ...args) => within(entries, work, args);
  }
}

export class AsyncResource {
  readonly type: string;
  readonly #entries: readonly Entry[] = active;
  constructor(type: string) {
    this.type = type;
  }
  runInAsyncScope(work: Work, self?: unknown, ...args: unknown[]): unknown {
    return within(this.#entries, work, args, self);
  }
  bind(work: Work): Work {
    return (...args) => this.runInAsyncScope(work, undefined, ...args);
  }
  static bind(work: Work, type = work.name, self?: unknown): Work {
    const resource = new AsyncResource(type);
    return (...args) => resource.runInAsyncScope(work, self, ...args);
  }
  emitDestroy(): this {
    return this;
  }
  asyncId(): number {
    return 1;
  }
  triggerAsyncId(): number {
    return 0;
  }
}

const hook = { enable: (): object => hook, disable: (): object => hook };

/** `node:async_hooks`. Hooks are accepted and never called. */
export default {
  AsyncLocalStorage,
  AsyncResource,
  EventEmitter,
  createHook: (): object => hook,
  executionAsyncId: (): number => 1,
  triggerAsyncId: (): number => 0,
  executionAsyncResource: (): object => ({}),
  asyncWrapProviders: {},
};
