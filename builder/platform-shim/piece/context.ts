import type { Fields } from "./contract.ts";
import { writeFile } from "./files.ts";

/** Where a piece keeps what it needs again. */
export interface Store {
  get(key: string, scope?: string): Promise<unknown>;
  put(key: string, value: unknown, scope?: string): Promise<unknown>;
  delete(key: string, scope?: string): Promise<void>;
}

interface Database {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** Names of keys that are the adapter's own. */
export const ownPrefix = "$";

/** A store on `$.service.db`. Keys of both scopes are those of the source. */
export function databaseStore(db: Database): Store {
  const nameOf = (key: string, scope?: string): string => (scope === "COLLECTION" ? `project/${key}` : key);
  return {
    get: async (key, scope) => db.get(nameOf(key, scope)) ?? null,
    put: async (key, value, scope) => {
      db.set(nameOf(key, scope), value);
      return value;
    },
    delete: async (key, scope) => db.set(nameOf(key, scope), undefined),
  };
}

/** The store of an action: a run of a workflow keeps nothing, so a value that is stored would be lost without a word. */
export const noStore: Store = {
  get: async () => null,
  put: async (key) => {
    throw new Error(
      `this action stores a value (${key}), and steps of workflows have no store: return it, or keep it in a service of yours`,
    );
  },
  delete: async () => undefined,
};

/** The server of Activepieces, which is not here. */
const server = { apiUrl: "https://activepieces.invalid/api/", publicUrl: "https://activepieces.invalid/", token: "" };
const project = { id: "headwater", externalId: async () => undefined };
const connections = { get: async () => null };
const flows = { list: async () => ({ data: [], next: null, previous: null }), current: { id: "headwater", version: { id: "headwater" } } };

/** Of functions that load options and props. */
export const propertyContext = (searchValue: string | undefined): Fields => ({
  searchValue,
  server,
  project,
  flows,
  connections,
  // In older contracts, the context is the server.
  ...server,
});

/** What all contexts have in common. */
export function baseContext(parts: { readonly auth: unknown; readonly propsValue: Fields; readonly store: Store }): Fields {
  return {
    ...parts,
    server,
    serverUrl: server.publicUrl,
    project,
    flows,
    connections,
    step: { name: "step" },
    tags: { add: async () => undefined },
    output: { update: async () => undefined },
    agent: { tools: async () => ({}) },
    files: { write: writeFile },
  };
}
