import { hash } from "node:crypto";
import { isOlder } from "../../crds/older.ts";
import { holderOf } from "../../crds/secret-values.ts";
import { variableKind, variablesByName, type VariableResource } from "../../crds/variable.ts";
import { canonicalJson } from "../../domain/canonical-json.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import { deploymentKey } from "../../domain/subjects.ts";
import { bytesOfVariable, variableLimits, type VariableValue, type VariableValues } from "../../domain/variable/variable.ts";
import type { Verdict } from "../controller/status.ts";
import { keyOf } from "../controller/informer.ts";
import type { Caches } from "../caches.ts";
import type { OperatorPorts } from "../ports.ts";

/** Values of secrets are read once for the passes of several variables of one owner. */
const keptMs = 1_000;

/** Variables of a namespace, and why some of them do not count, by the name of the resource. */
export interface ReadVariables {
  readonly values: VariableValues;
  readonly problems: ReadonlyMap<string, Verdict>;
  /** Bytes of values that were read, by the name of the resource. */
  readonly bytes: ReadonlyMap<string, number>;
}

/**
 * What runners know of variables: one entry for each owner in each pool that runs the owner's workflows. The nearest variable counts:
 * the owner's, then the shared one. A run reads the entry, so a change needs no deployment.
 */
export class VariableEntries {
  readonly #ports: OperatorPorts;
  readonly #caches: Pick<Caches, "workflows" | "variables">;
  /** Writes of one entry follow one another. */
  readonly #turns = new FairSemaphore({ permitsPerKey: 1 });
  /** By uid. */
  readonly #kept = new Map<string, { readonly generation: number; readonly until: number; readonly value: string | Verdict }>();
  #sharedDigest: string | undefined;
  #onSharedChange: () => void = () => undefined;

  constructor(ports: OperatorPorts, caches: Pick<Caches, "workflows" | "variables">) {
    this.#ports = ports;
    this.#caches = caches;
  }

  /** Registers the callback for changes of shared variables, which concern all owners. */
  onSharedChange(changed: () => void): void {
    this.#onSharedChange = changed;
  }

  /** Writes the entry of the namespace's owner for the pool, unless it is there. @throws Unavailable, Conflict */
  async write(namespace: string, pool: string): Promise<void> {
    const { owners, variableEntries: entries, secrets } = this.#ports;
    const owner = await owners.ownerOf(namespace);
    if (owner === undefined) return;
    const key = deploymentKey(pool, owner);
    await this.#turns.use(key, async () => {
      const { values } = await this.read(namespace);
      const known = await entries.get(key);
      if (Object.keys(values).length === 0) return known === undefined ? undefined : entries.delete(key);
      const digest = digestOf(values);
      if (known !== undefined && (await this.#opened(known.variablesSeen)) === digest) return;
      await entries.put(key, {
        variablesOf: owner,
        variables: await secrets.sealForPool(pool, JSON.stringify(values)),
        variablesSeen: await secrets.seal(digest),
      });
    });
  }

  /** Writes the entries for all pools that run workflows of the owner, and deletes those of other pools. */
  async writeAll(namespace: string): Promise<void> {
    const { owners, pools, variableEntries: entries } = this.#ports;
    const owner = await owners.ownerOf(namespace);
    if (owner === undefined) return;
    const used = new Set([pools.poolOf(owner)]);
    for (const { metadata, status } of this.#caches.workflows.values())
      if (metadata.namespace === namespace && status.pool !== undefined) used.add(status.pool);
    for (const pool of used) await this.write(namespace, pool);
    const written = [...(await entries.list(deploymentKey("*", owner))).keys()];
    for (const key of written) if (![...used].some((pool) => deploymentKey(pool, owner) === key)) await entries.delete(key);
  }

  /** Keys of the variable, and of those of its namespace that do not count yet: it may have taken their name or their room. */
  concernedBy(changed: VariableResource): readonly string[] {
    const others = [...this.#caches.variables.values()].filter(
      ({ metadata, status }) =>
        metadata.namespace === changed.metadata.namespace &&
        status.conditions?.some(({ type, status: holds }) => type === "Ready" && holds === "False") === true,
    );
    return [...new Set([changed, ...others].map((each) => keyOf(each)))];
  }

  /** Namespaces whose owners have workflows or variables. */
  namespaces(): ReadonlySet<string> {
    const { workflows, variables } = this.#caches;
    return new Set([...workflows.values(), ...variables.values()].map(({ metadata }) => metadata.namespace));
  }

  /** The values that count in a namespace. A value that cannot be read is left out. @throws Unavailable */
  async read(namespace: string): Promise<ReadVariables> {
    const shared = await this.#ports.apps.sharedNamespace();
    const ofAll = shared === undefined ? nothing : await this.#readOf(shared, true);
    this.#noteShared(digestOf(ofAll.values));
    const own = await this.#readOf(namespace, false);
    const isShared = shared === namespace;
    return {
      values: { ...ofAll.values, ...own.values },
      problems: isShared ? new Map([...ofAll.problems, ...own.problems]) : own.problems,
      bytes: isShared ? new Map([...ofAll.bytes, ...own.bytes]) : own.bytes,
    };
  }

  #noteShared(digest: string): void {
    const before = this.#sharedDigest;
    this.#sharedDigest = digest;
    if (before !== undefined && before !== digest) this.#onSharedChange();
  }

  async #readOf(namespace: string, isShared: boolean): Promise<ReadVariables> {
    const all = [...this.#caches.variables.values()].filter(({ metadata }) => metadata.namespace === namespace);
    const byName = variablesByName(all, isShared);
    const problems = new Map<string, Verdict>();
    const bytes = new Map<string, number>();
    for (const { metadata, spec, invalid } of all) {
      if (invalid !== undefined || (spec.shared === true) !== isShared) continue;
      const first = byName.get(spec.name);
      if (first !== undefined && first.metadata.name !== metadata.name) problems.set(metadata.name, isTaken(spec.name, first));
    }
    const values: [string, VariableValue][] = [];
    let used = 0;
    for (const variable of [...byName.values()].toSorted((a, b) => (isOlder(a, b) ? -1 : 1))) {
      const { metadata, spec } = variable;
      const value = await this.#keptValue(variable);
      if (typeof value !== "string") {
        problems.set(metadata.name, value);
        continue;
      }
      const valueBytes = Buffer.byteLength(value);
      bytes.set(metadata.name, valueBytes);
      const total = used + bytesOfVariable(spec.name, value);
      const problem = boundProblem(valueBytes, values.length, total);
      if (problem !== undefined) {
        problems.set(metadata.name, problem);
        continue;
      }
      used = total;
      values.push([spec.name, { value, isSecret: spec.valueFrom !== undefined }]);
    }
    return { values: Object.fromEntries(values), problems, bytes };
  }

  async #keptValue(variable: VariableResource): Promise<string | Verdict> {
    const { uid, generation } = variable.metadata;
    const now = this.#ports.clock.now();
    const kept = this.#kept.get(uid);
    if (kept !== undefined && kept.generation === generation && kept.until > now) return kept.value;
    for (const [other, { until }] of this.#kept) if (until <= now) this.#kept.delete(other);
    const value = await this.#valueOf(variable);
    if (typeof value === "string") this.#kept.set(uid, { generation, until: now + keptMs, value });
    return value;
  }

  async #valueOf(variable: VariableResource): Promise<string | Verdict> {
    const { value = "", valueFrom } = variable.spec;
    if (valueFrom === undefined) return value;
    try {
      return await this.#ports.secretValues.read(holderOf(variableKind, variable), valueFrom);
    } catch (error) {
      if (error instanceof NotFound) return { ready: false, transient: true, reason: "SecretNotFound", message: error.message };
      if (error instanceof InvalidInput) return { ready: false, transient: false, reason: "SecretInvalid", message: error.message };
      throw error;
    }
  }

  /** Undefined for an entry that was sealed with a lost key. */
  async #opened(sealed: string): Promise<string | undefined> {
    try {
      return await this.#ports.secrets.open(sealed);
    } catch (error) {
      if (error instanceof InvalidInput) return undefined;
      throw error;
    }
  }
}

const digestOf = (values: VariableValues): string => hash("sha256", canonicalJson(values));

const nothing: ReadVariables = { values: {}, problems: new Map(), bytes: new Map() };

const isTaken = (name: string, { metadata }: VariableResource): Verdict => ({
  ready: false,
  reason: "NameTaken",
  message: `the Variable ${metadata.name} has the name ${name} already, and is older: delete one of them`,
});

function boundProblem(valueBytes: number, count: number, totalBytes: number): Verdict | undefined {
  const { count: maxCount, valueBytes: maxValue, totalBytes: maxTotal } = variableLimits;
  const problem = (message: string): Verdict => ({ ready: false, reason: "LimitExceeded", message });
  if (valueBytes > maxValue) return problem(`the value has ${valueBytes} bytes, the limit is ${maxValue}`);
  if (count >= maxCount) return problem(`the owner has ${maxCount} older variables, the limit: delete some of them`);
  if (totalBytes > maxTotal)
    return problem(
      `with it, the variables of the owner have ${totalBytes} bytes, the limit is ${maxTotal}: shorten or delete some of them`,
    );
  return undefined;
}
