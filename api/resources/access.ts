import type { Kind, Resource } from "../../crds/resource.ts";
import { Forbidden, NotFound } from "../../domain/errors.ts";
import { isId, type IdKind } from "../../domain/ids.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { parse } from "../http/request/parse.ts";
import type { ApiPorts, User } from "../ports.ts";
import { notFound } from "./not-found.ts";

type AccessPorts = Pick<ApiPorts, "accounts" | "store" | "pages" | "owners">;

/** Checks access: users see their own resources and those of their organizations. */
export class Access {
  readonly #ports: AccessPorts;
  readonly #onOwner: (owner: string) => void;

  constructor(ports: AccessPorts, onOwner: (owner: string) => void = () => undefined) {
    this.#ports = ports;
    this.#onOwner = onOwner;
  }

  /** The same checks, which also report the owners of what they allow. */
  noting(onOwner: (owner: string) => void): Access {
    return new Access(this.#ports, onOwner);
  }

  /** The owner on whose behalf the call acts: the organization of `org_id` (or `workspace_id`), or the user. @throws Forbidden, NotFound */
  async owner({ user, parameters }: Pick<Call, "user" | "parameters">): Promise<string> {
    const { org_id, workspace_id } = parse(ownerParameters, parameters);
    const organization = org_id ?? workspace_id;
    if (organization === undefined || organization === "" || organization === user.id) {
      this.#onOwner(user.id);
      return user.id;
    }
    await this.checkOrganization(user, organization);
    return organization;
  }

  /** @throws Forbidden unless the user is a member, NotFound if it does not exist */
  async checkOrganization(user: User, id: string): Promise<void> {
    if (!isId("organization", id)) throw new NotFound(`organization '${id.slice(0, 80)}' is not found: its id must look like o_…`);
    if (await this.#ports.accounts.isMember(user.id, id)) return this.#onOwner(id);
    if ((await this.#ports.accounts.findOrganization(id)) === undefined) throw new NotFound(`organization ${id} is not found`);
    throw new Forbidden(`you are not a member of organization ${id}`);
  }

  /** The user and their organizations. */
  async ownersOf(user: User): Promise<readonly string[]> {
    return [user.id, ...(await this.#ports.accounts.organizationsOf(user.id)).map(({ id }) => id)];
  }

  /** Reads the current resource. Resources of others are not found, so that ids reveal nothing. @throws NotFound */
  async get<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T>> {
    const found = isId(idKind, id) ? await this.#ports.store.findById(kind, id) : undefined;
    if (found === undefined || !(await this.#isVisible(found, user))) throw notFound(idKind, id);
    return found;
  }

  /** Undefined in a namespace without an owner. */
  async ownerOf({ metadata }: Resource): Promise<string | undefined> {
    return this.#ports.owners.ownerOf(metadata.namespace);
  }

  /**
   * Reads the resource from the pages, which is enough to read its history and puts no load on the store. Falls back to the store for
   * resources that are not listed yet. @throws NotFound
   */
  async getListed<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T>> {
    const listed = isId(idKind, id) ? await this.#ports.pages.findById(kind, id) : undefined;
    if (listed === undefined) return this.get(kind, idKind, id, user);
    if (!(await this.#isVisible(listed, user))) throw notFound(idKind, id);
    return listed;
  }

  async #isVisible(found: Resource, user: User): Promise<boolean> {
    return found.metadata.deletionTimestamp === undefined && (await this.#mayUse(user, found));
  }

  async #mayUse(user: User, resource: Resource): Promise<boolean> {
    const owner = await this.ownerOf(resource);
    if (owner === undefined) return false;
    const mayUse = owner === user.id || (isId("organization", owner) && (await this.#ports.accounts.isMember(user.id, owner)));
    if (mayUse) this.#onOwner(owner);
    return mayUse;
  }
}
