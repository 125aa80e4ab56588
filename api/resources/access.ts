import type { Kind, Resource } from "../../crds/resource.ts";
import { Forbidden, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isId, type IdKind } from "../../domain/ids.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { parse } from "../http/request/parse.ts";
import type { ApiPorts } from "../ports.ts";
import type { User } from "../http/ports.ts";
import { notFound, notOfOrganization } from "./not-found.ts";

type AccessPorts = Pick<ApiPorts, "accounts" | "store" | "pages" | "owners">;
/** Who acts, and the parameters that say for whom. */
export type Acting = Pick<Call, "user" | "parameters">;

interface Scope {
  /** Is called with the owners of what the checks allow. */
  readonly onOwner?: (owner: string) => void;
  /** The organization in whose name the call acts. */
  readonly organization?: string | undefined;
}

/** Checks access: users see their own resources and those of their organizations. */
export class Access {
  readonly #ports: AccessPorts;
  readonly #scope: Scope;

  constructor(ports: AccessPorts, scope: Scope = {}) {
    this.#ports = ports;
    this.#scope = scope;
  }

  /** The same checks, which also report the owners of what they allow. */
  noting(onOwner: (owner: string) => void): Access {
    return new Access(this.#ports, { ...this.#scope, onOwner });
  }

  /** Reports the owner of what another check has allowed. */
  note(owner: string): void {
    this.#onOwner(owner);
  }

  /** The same checks, which find only resources of this organization; undefined: of all owners that the user may act for. */
  within(organization: string | undefined): Access {
    return new Access(this.#ports, { ...this.#scope, organization });
  }

  /** The owner on whose behalf the call acts: the organization of `org_id` (or `workspace_id`), or the user. @throws Forbidden, NotFound */
  async owner(call: Acting): Promise<string> {
    const organization = await this.organization(call);
    this.#onOwner(organization ?? call.user.id);
    return organization ?? call.user.id;
  }

  /** The organization of `org_id` (or `workspace_id`); undefined without one. @throws Forbidden, NotFound */
  async organization({ user, parameters }: Acting): Promise<string | undefined> {
    const { org_id, workspace_id } = parse(ownerParameters, parameters);
    const [organization, other] = [...new Set([org_id, workspace_id].filter((id) => id !== undefined && id !== ""))];
    if (other !== undefined)
      throw new InvalidInput(
        `org_id ${organization?.slice(0, 80)} and workspace_id ${other.slice(0, 80)} name two organizations: send one`,
      );
    if (organization === undefined || organization === user.id) return undefined;
    await this.#checkMember(user, organization);
    return organization;
  }

  /** @throws Forbidden unless the user is a member, NotFound if it does not exist */
  async checkOrganization(user: User, id: string): Promise<void> {
    await this.#checkMember(user, id);
    this.#onOwner(id);
  }

  async #checkMember(user: User, id: string): Promise<void> {
    if (!isId("organization", id)) throw new NotFound(`organization '${id.slice(0, 80)}' is not found: its id must look like o_…`);
    if (await this.#ports.accounts.isMember(user.id, id)) return;
    if ((await this.#ports.accounts.findOrganization(id)) === undefined) throw new NotFound(`organization ${id} is not found`);
    throw new Forbidden(`you are not a member of organization ${id}`);
  }

  /** The user and their organizations. */
  async ownersOf(user: User): Promise<readonly string[]> {
    return [user.id, ...(await this.#ports.accounts.organizationsOf(user.id)).map(({ id }) => id)];
  }

  /**
   * Reads the current resource that an operation is about. Resources of others are not found, so that ids reveal nothing, and neither are
   * those that the organization in `org_id` does not own. @throws NotFound
   */
  async get<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T>> {
    return this.#ofOrganization(await this.getReferenced(kind, idKind, id, user), idKind, id);
  }

  /** Reads a resource that a request refers to, such as a listener: of the user, or of any of their organizations. @throws NotFound */
  async getReferenced<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T>> {
    const found = isId(idKind, id) ? await this.#ports.store.findById(kind, id) : undefined;
    if (found === undefined || !(await this.#isVisible(found, user))) throw notFound(idKind, id);
    return found;
  }

  /** The listed resource, for views of what many resources did: undefined also for those of others. Puts no load on the store. */
  async findListed<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T> | undefined> {
    const listed = isId(idKind, id) ? await this.#ports.pages.findById(kind, id) : undefined;
    if (listed === undefined || !(await this.#isVisible(listed, user))) return undefined;
    const { organization } = this.#scope;
    return organization === undefined || organization === (await this.ownerOf(listed)) ? listed : undefined;
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
    return this.#ofOrganization(listed, idKind, id);
  }

  async #ofOrganization<S, T>(found: Resource<S, T>, idKind: IdKind, id: string): Promise<Resource<S, T>> {
    const { organization } = this.#scope;
    if (organization === undefined || organization === (await this.ownerOf(found))) return found;
    throw notOfOrganization(idKind, id, organization);
  }

  #onOwner(owner: string): void {
    this.#scope.onOwner?.(owner);
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
