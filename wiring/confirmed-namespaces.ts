import type { NamespaceClaims } from "../api/namespaces/ports.ts";
import { pause } from "../domain/retry.ts";
import type { KubernetesOwnerNamespaces } from "../platform/kubernetes/owners/owner-namespaces.ts";
import type { Database } from "../platform/postgres/connection.ts";
import { createConfirmations, type Confirmations, type ConfirmationStore } from "../platform/postgres/namespaces/confirmations.ts";

/** How long a process may take to learn of a confirmation that another process has written. */
const pollMs = 2_000;

type Owners = Pick<KubernetesOwnerNamespaces, "setConfirmed" | "labelledFor" | "find" | "list" | "ownerOf">;

interface FollowOptions {
  /** Whether this process confirms the namespaces in use, once for a database: the operator does. */
  readonly adopts: boolean;
  readonly onError: (error: unknown) => void;
}

/** Passes the confirmations in Postgres to the map of namespaces. */
export class ConfirmedNamespaces implements NamespaceClaims {
  readonly #store: ConfirmationStore;
  readonly #owners: Owners;
  readonly #options: FollowOptions;
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;

  constructor(database: Database, owners: Owners, options: FollowOptions) {
    this.#store = createConfirmations(database);
    this.#owners = owners;
    this.#options = options;
    this.#following = this.#follow();
  }

  async list(owner: string) {
    const [confirmed, labelled, inUse] = await Promise.all([
      this.#store.list(owner),
      this.#owners.labelledFor(owner),
      this.#owners.find(owner),
    ]);
    return [...new Set([...confirmed.keys(), ...labelled])].toSorted().map((name) => ({
      name,
      confirmedAt: confirmed.get(name) ?? null,
      isLabelled: labelled.includes(name),
      isInUse: name === inUse,
    }));
  }

  async confirm(owner: string, namespace: string): Promise<void> {
    await this.#store.confirm({ owner, namespace }, Date.now());
    await this.#refresh();
  }

  async withdraw(owner: string, namespace: string): Promise<void> {
    await this.#store.withdraw({ owner, namespace });
    await this.#refresh();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#refresh().catch((error: unknown) => {
        if (!signal.aborted) this.#options.onError(error);
      });
      await pause(pollMs, signal);
    }
  }

  async #refresh(): Promise<void> {
    const confirmations = await this.#store.read();
    this.#pass(confirmations);
    if (!confirmations.isPending || !this.#options.adopts) return;
    await this.#store.adopt(await this.#inUse(), Date.now());
    this.#pass(await this.#store.read());
  }

  #pass({ has }: Confirmations): void {
    this.#owners.setConfirmed(has, { confirm: (owner, namespace) => this.confirm(owner, namespace), refresh: () => this.#refresh() });
  }

  async #inUse() {
    await this.#owners.find(""); // Until the namespaces have been listed.
    const found = await Promise.all(
      this.#owners.list().map(async (namespace) => ({ namespace, owner: await this.#owners.ownerOf(namespace) })),
    );
    return found.flatMap(({ namespace, owner }) => (owner === undefined ? [] : [{ namespace, owner }]));
  }
}
