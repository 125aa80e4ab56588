import { takesClientCredentials, type App } from "../domain/app/app.ts";
import { appKind, appOf, type AppResource } from "./app.ts";
import { oauthClientKind, type OAuthClientResource } from "./oauth-client.ts";
import type { Kind, Resource } from "./resource.ts";
import { isOlder } from "./older.ts";
import { allOf, type ResourceStore } from "./resource-store.ts";

/** Who defined an app. `shared`: the owner whose apps count for everybody. `built_in`: it comes with Headwater. */
export type AppOrigin = "own" | "shared" | "built_in";

export interface FoundApp extends App {
  readonly origin: AppOrigin;
  /** Of an App; absent for `built_in`. */
  readonly resource?: AppResource;
}

interface LibraryParts {
  readonly store: Pick<ResourceStore, "list">;
  /** The apps that come with Headwater, by slug. */
  readonly builtIn: ReadonlyMap<string, App>;
  /** The namespace of the owner whose apps and clients count for everybody; undefined: there is none. */
  readonly sharedNamespace: () => Promise<string | undefined>;
}

/**
 * Apps and OAuth clients that an owner can use. The nearest counts: the owner's own, then those of the shared owner, then those that come
 * with Headwater.
 *
 * A secret of the shared owner must not be sent to an address that another owner chose. So a shared client is used only with an app that the
 * shared owner or Headwater has defined, never with an owner's own app of that slug. With the grant client_credentials, tokens are for the
 * client itself, so a shared client would give what it may do to every owner: there an owner's own client counts alone.
 */
export class AppLibrary {
  readonly #parts: LibraryParts;

  constructor(parts: LibraryParts) {
    this.#parts = parts;
  }

  /** The same library, read from another store, such as caches. */
  from(store: LibraryParts["store"]): AppLibrary {
    return new AppLibrary({ ...this.#parts, store });
  }

  /** Namespace of the owner whose apps, clients and shared variables count for everybody; undefined: there is none. */
  sharedNamespace(): Promise<string | undefined> {
    return this.#parts.sharedNamespace();
  }

  /** All apps of the owner of the namespace, each slug once. @param namespace undefined: the owner has none yet */
  async list(namespace: string | undefined): Promise<readonly FoundApp[]> {
    const shared = await this.#parts.sharedNamespace();
    const found = new Map<string, FoundApp>();
    for (const [slug, app] of this.#parts.builtIn) found.set(slug, { ...app, origin: "built_in" });
    for (const place of [shared, namespace])
      for (const [slug, resource] of await this.#oldest(appKind, place, ({ spec }) => spec.slug))
        found.set(slug, { ...appOf(resource), origin: place === shared ? "shared" : "own", resource });
    return [...found.values()];
  }

  async find(namespace: string | undefined, slug: string): Promise<FoundApp | undefined> {
    return (await this.list(namespace)).find((app) => app.slug === slug);
  }

  /** The client by which accounts of the app are connected. @param app as {@link find} returned it for the namespace */
  async clientFor(namespace: string | undefined, app: FoundApp): Promise<OAuthClientResource | undefined> {
    return (await this.clientsFor(namespace, [app])).get(app.slug);
  }

  /** The clients of apps, by slug; an app without a client is absent. */
  async clientsFor(namespace: string | undefined, apps: readonly FoundApp[]): Promise<ReadonlyMap<string, OAuthClientResource>> {
    const shared = await this.#parts.sharedNamespace();
    const [own, others] = [await this.#clientsIn(namespace), await this.#clientsIn(shared)];
    const found = new Map<string, OAuthClientResource>();
    for (const app of apps) {
      const { slug, origin } = app;
      const client = own.get(slug) ?? (origin === "own" || takesClientCredentials(app) ? undefined : others.get(slug));
      if (client !== undefined) found.set(slug, client);
    }
    return found;
  }

  /** The app to whose addresses the client's secret may be sent for an account of the namespace; undefined: to none. */
  async appFor(client: OAuthClientResource, namespace: string): Promise<FoundApp | undefined> {
    const home = client.metadata.namespace;
    if (home !== namespace && home !== (await this.#parts.sharedNamespace())) return undefined;
    const app = await this.find(home, client.spec.app);
    return app !== undefined && home !== namespace && takesClientCredentials(app) ? undefined : app;
  }

  #clientsIn(namespace: string | undefined): Promise<ReadonlyMap<string, OAuthClientResource>> {
    return this.#oldest(oauthClientKind, namespace, ({ spec }) => spec.app);
  }

  /** The oldest resource by its slug: a later one with the same slug does not count. */
  async #oldest<S, T>(
    kind: Kind<S, T>,
    namespace: string | undefined,
    slugOf: (resource: Resource<S, T>) => string,
  ): Promise<ReadonlyMap<string, Resource<S, T>>> {
    if (namespace === undefined) return new Map();
    const bySlug = new Map<string, Resource<S, T>>();
    for await (const resource of allOf(this.#parts.store, kind, { namespace })) {
      if (resource.invalid !== undefined || resource.metadata.deletionTimestamp !== undefined) continue;
      const before = bySlug.get(slugOf(resource));
      if (before === undefined || isOlder(resource, before)) bySlug.set(slugOf(resource), resource);
    }
    return bySlug;
  }
}
