import { namespaceOfOwner } from "../../../domain/ids.ts";

/** A namespace with an owner's label. */
export interface OwnedNamespace {
  readonly name: string;
  /** Public id. */
  readonly owner: string;
  /** RFC 3339, whole seconds. */
  readonly createdAt: string;
  /** It is being deleted: nothing can be created in it. */
  readonly isTerminating: boolean;
}

/**
 * Maps namespaces to owners. Only those count that the owner has confirmed. Of several with one owner's label the one that the API has named after the owner counts, else the oldest: a
 * label on another namespace cannot move what an owner has. A namespace in deletion yields to the next, but keeps its
 * owner so that its resources can be cleaned up in the owner's name.
 */
export interface OwnerMap {
  ownerOf(name: string): string | undefined;
  find(owner: string): OwnedNamespace | undefined;
  names(): readonly string[];
  /** These return the namespaces whose `ownerOf` has changed. */
  set(namespace: OwnedNamespace): readonly string[];
  delete(name: string): readonly string[];
  replace(all: readonly OwnedNamespace[]): readonly string[];
  /** Which namespaces owners have confirmed. By default all are. */
  setConfirmed(isConfirmed: IsConfirmed): readonly string[];
  /** Names of the owner's namespaces by label, confirmed or not. */
  labelledFor(owner: string): readonly string[];
}

export type IsConfirmed = (namespace: { readonly namespace: string; readonly owner: string }) => boolean;

export function createOwnerMap(initially: IsConfirmed = () => true): OwnerMap {
  let isConfirmed = initially;
  const counts = ({ name, owner }: OwnedNamespace): boolean => isConfirmed({ namespace: name, owner });
  const byName = new Map<string, OwnedNamespace>();
  const byOwner = new Map<string, Set<string>>();

  const find = (owner: string): OwnedNamespace | undefined =>
    [...(byOwner.get(owner) ?? [])]
      .map((name) => byName.get(name))
      .filter((each) => each !== undefined)
      .filter(counts)
      .reduce<OwnedNamespace | undefined>((best, each) => (best === undefined || isBefore(each, best) ? each : best), undefined);
  const ownerOf = (name: string): string | undefined => {
    const namespace = byName.get(name);
    if (namespace === undefined || !counts(namespace)) return undefined;
    return namespace.isTerminating || find(namespace.owner)?.name === name ? namespace.owner : undefined;
  };
  const put = (name: string, next: OwnedNamespace | undefined): void => {
    const former = byName.get(name);
    if (former !== undefined) forget(byOwner, former);
    byName.delete(name);
    if (next === undefined) return;
    byName.set(name, next);
    const names = byOwner.get(next.owner) ?? new Set();
    byOwner.set(next.owner, names.add(name));
  };
  /** The owner of a namespace depends on the other namespaces of the previous and the next owner. */
  const change = (name: string, next: OwnedNamespace | undefined): readonly string[] => {
    const owners = [byName.get(name)?.owner, next?.owner];
    const touched = new Set([name, ...owners.flatMap((owner) => [...((owner === undefined ? undefined : byOwner.get(owner)) ?? [])])]);
    const before = new Map([...touched].map((each) => [each, ownerOf(each)]));
    put(name, next);
    return [...touched].filter((each) => before.get(each) !== ownerOf(each));
  };
  return {
    ownerOf,
    find,
    setConfirmed(next) {
      const before = new Map([...byName.keys()].map((name) => [name, ownerOf(name)]));
      isConfirmed = next;
      return [...before.keys()].filter((name) => before.get(name) !== ownerOf(name));
    },
    labelledFor: (owner) => [...(byOwner.get(owner) ?? [])],
    names: () => [...byName.keys()],
    set: (namespace) => change(namespace.name, namespace),
    delete: (name) => change(name, undefined),
    replace(all) {
      const names = new Set(all.map(({ name }) => name));
      const gone = [...byName.keys()].filter((name) => !names.has(name));
      return [...new Set([...gone.flatMap((name) => change(name, undefined)), ...all.flatMap((each) => change(each.name, each))])];
    },
  };
}

function forget(byOwner: Map<string, Set<string>>, { owner, name }: OwnedNamespace): void {
  const names = byOwner.get(owner);
  names?.delete(name);
  if (names?.size === 0) byOwner.delete(owner);
}

const isNamedAfterOwner = ({ name, owner }: OwnedNamespace): boolean => name === namespaceOfOwner(owner);

function isBefore(a: OwnedNamespace, b: OwnedNamespace): boolean {
  if (a.isTerminating !== b.isTerminating) return b.isTerminating;
  if (isNamedAfterOwner(a) !== isNamedAfterOwner(b)) return isNamedAfterOwner(a);
  return a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;
}
