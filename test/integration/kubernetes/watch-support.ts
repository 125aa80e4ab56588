import { expect } from "vitest";
import type { ResourceStore, WatchEvent } from "../../../crds/resource-store.ts";
import type { Kind, Resource } from "../../../crds/resource.ts";
import { Gone, Unavailable } from "../../../domain/errors.ts";
import { whenever } from "./support.ts";

type State = Map<string, Resource>;

/** The state of a client that lists once and then watches. After Gone or a failed list it lists again. */
export function follow(
  store: ResourceStore,
  kind: Kind,
  namespace: string,
  each: (event: WatchEvent<unknown, unknown>) => unknown = () => undefined,
) {
  const state: State = new Map();
  const stop = new AbortController();
  let lists = 0;
  const once = async (): Promise<void> => {
    const fresh: State = new Map();
    let next: string | undefined;
    let version = "";
    do {
      const page = await store.list(kind, { limit: 3, namespace, ...(next === undefined ? {} : { continue: next }) });
      for (const item of page.items) fresh.set(item.metadata.name, item);
      version = page.resourceVersion;
      next = page.continue;
    } while (next !== undefined);
    state.clear();
    for (const [name, item] of fresh) state.set(name, item);
    lists++;
    for await (const event of store.watch(kind, version, stop.signal)) {
      await each(event);
      if (event.type === "bookmark" || event.resource.metadata.namespace !== namespace) continue;
      if (event.type === "deleted") state.delete(event.resource.metadata.name);
      else state.set(event.resource.metadata.name, event.resource);
    }
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      await once().catch((error: unknown) => {
        if (!(error instanceof Gone || error instanceof Unavailable)) throw error;
      });
    }
  })();
  return {
    state,
    lists: () => lists,
    async end() {
      stop.abort();
      await running;
    },
  };
}

export async function expectSame(store: ResourceStore, kind: Kind, namespace: string, state: State): Promise<void> {
  const { items } = await store.list(kind, { namespace });
  const truth = new Map(items.map((item) => [item.metadata.name, item]));
  await whenever(
    () =>
      state.size === truth.size &&
      [...truth].every(([name, { metadata }]) => state.get(name)?.metadata.resourceVersion === metadata.resourceVersion),
    "the watcher has the state of a list",
  );
  expect(new Map([...state].toSorted())).toEqual(new Map([...truth].toSorted()));
}
