import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apiVersion, labels, type Resource } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind, type SourceSpec, type SourceStatus } from "../../../crds/source.ts";
import type { HealthState } from "../../../domain/source/source-health.ts";
import type { Mirrored } from "../../../operator/mirror/rows.ts";
import { createResourceMirror } from "../../../platform/postgres/resources/resource-mirror.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import { withDatabase } from "./support.ts";

const database = withDatabase("operator");
const pages = createResourcePages(database);

describe("the mirror of a cluster's resources", () => {
  const mirrored = (name: string, uid: number, resourceVersion: string, createdAt: string): Resource<SourceSpec, SourceStatus> => ({
    apiVersion,
    kind: "Source",
    metadata: {
      name,
      namespace: "mirror",
      uid: `00000000-0000-4000-8000-00000000000${uid}`,
      resourceVersion,
      generation: 3,
      creationTimestamp: createdAt,
      finalizers: [],
      labels: { [labels.id]: `dc_${name}` },
      annotations: {},
      ...(name === "young" ? { ownerReferences: [{ apiVersion, kind: "AutoSubscription", name: "a", uid: "u", controller: true }] } : {}),
    },
    spec: {
      componentRef: { name: "c" },
      ...defaultSettings,
      name,
    },
    status: { nameSlug: name },
  });
  const ended = ({ kind, metadata }: Resource): Mirrored => ({ ...metadata, kind });
  const names = async (): Promise<string[]> =>
    (await pages.listPage(sourceKind, { namespace: "mirror" }, { limit: 9, cursor: null })).items.map(({ metadata }) => metadata.name);

  test("lists stored resources by age, unchanged", async () => {
    const mirror = createResourceMirror(database);
    const young = (version: string) => mirrored("young", 1, version, "2026-11-02T00:00:00.000Z");
    await mirror.write([young("501"), mirrored("old", 2, "502", "2026-11-01T00:00:00.000Z")], []);
    await mirror.write([young("503")], []);
    await mirror.write([{ ...young("99"), status: { nameSlug: "older" } }], []); // 99 < 503, though not as text.
    expect(await names()).toEqual(["young", "old"]);
    expect(await pages.findById(sourceKind, "dc_young")).toEqual(mirrored("young", 1, "503", "2026-11-02T00:00:00.000Z"));
    expect((await pages.findNewest(sourceKind, { namespace: "mirror", slug: "old" }))?.metadata.name).toBe("old");
  });

  test("finds stored resources by state, whatever characters it contains", async () => {
    const mirror = createResourceMirror(database);
    const inState = async (state: HealthState) =>
      (await pages.listPage(sourceKind, { namespace: "mirror", sources: { state, text: "weird" } }, { limit: 9, cursor: null })).total;
    const weird = (version: string, active: boolean) => {
      const source = mirrored("weird", 7, version, "2026-11-04T00:00:00.000Z");
      return { ...source, spec: { ...source.spec, name: "weird \0 \ud800 \\u0000", active } };
    };
    await mirror.write([weird("550", false)], []);
    expect([await inState("paused"), await inState("deploying")]).toEqual([1, 0]);
    await mirror.write([weird("551", true)], []);
    expect([await inState("paused"), await inState("deploying")]).toEqual([0, 1]);
    await mirror.write([], [ended(weird("552", true))]);
    expect(await inState("deploying")).toBe(0);
  });

  test("does not store a deleted resource again, except a new one with the same name", async () => {
    const mirror = createResourceMirror(database);
    const state = (version: string, uid = 4) => mirrored("ending", uid, version, "2026-11-03T00:00:00.000Z");
    await mirror.write([state("610")], []);
    await mirror.write([], [ended(state("620"))]);
    await mirror.write([state("615")], []);
    // The API knows only a version that it has read, not the one of its deletion.
    await mirror.write([state("625")], []);
    expect(await names()).not.toContain("ending");
    expect(await pages.findById(sourceKind, "dc_ending")).toBeUndefined();
    await mirror.write([state("630", 5)], []);
    await mirror.write([], [ended(state("621"))]);
    expect(await pages.findById(sourceKind, "dc_ending")).toEqual(state("630", 5));
    await mirror.write([], [ended(state("630", 5))]);
    await mirror.write([], [ended(state("640", 5))]);
    expect([...(await mirror.known(sourceKind)).keys()].toSorted()).toEqual(["mirror/old", "mirror/young"]);
  });

  test("ignores a resource that was deleted before it was first written", async () => {
    const mirror = createResourceMirror(database);
    const state = (version: string) => mirrored("brief", 6, version, "2026-11-03T00:00:00.000Z");
    await mirror.write([], [ended(state("702"))]);
    await mirror.write([state("701")], []);
    expect(await names()).not.toContain("brief");
  });

  test("writes hundreds in one statement, including texts with U+0000", async () => {
    const mirror = createResourceMirror(database);
    const many = Array.from({ length: 500 }, (_, n) => {
      const one = mirrored(`many-${n}`, 7, String(800 + n), "2026-11-04T00:00:00.000Z");
      return {
        ...one,
        metadata: { ...one.metadata, uid: randomUUID(), namespace: "many" },
        status: { ...one.status, lastError: `zero \0 "${n}" {}` },
      };
    });
    await mirror.write(many, []);
    const page = await pages.listPage(sourceKind, { namespace: "many" }, { limit: 1_000, cursor: null });
    const byName = (a: Resource, b: Resource): number => (a.metadata.name < b.metadata.name ? -1 : 1);
    expect(page.items.toSorted(byName)).toEqual(many.toSorted(byName));
    await mirror.forget(sourceKind);
    expect((await mirror.known(sourceKind)).size).toBe(0);
  });

  test("lists a resource whose annotation contains U+0000, which Kubernetes allows", async () => {
    const mirror = createResourceMirror(database);
    const { metadata, ...rest } = mirrored("zero", 8, "900", "2026-11-05T00:00:00.000Z");
    await mirror.write([{ ...rest, metadata: { ...metadata, annotations: { note: "a\0b" } } }], []);
    expect(await pages.findById(sourceKind, "dc_zero")).toMatchObject({ metadata: { annotations: { note: "a\uFFFDb" } } });
    await mirror.forget(sourceKind);
  });

  /**
   * For any order of writing, alone or in batches, once or repeated: the stored state is the last one by version.
   * Method: lives of two names (created, changed, ended, created again) written in random order; the oracle sorts by version.
   */
  test("stores the same state for every order of writing", async () => {
    const mirror = createResourceMirror(database);
    const change = fc.record({ name: fc.constantFrom("a", "b"), ends: fc.boolean() });
    const written = fc.record({ pick: fc.nat() });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 10 }), fc.array(written, { maxLength: 20 }), async (changes, order) => {
        await mirror.forget(sourceKind);
        const events = livesOf(changes);
        const all = [...order.map(({ pick }) => events[pick % events.length] as Event), ...shuffled(events, order)];
        for (const event of all) await mirror.write(event.ended ? [] : [event.state], event.ended ? [ended(event.state)] : []);
        const shown = (await pages.listPage(sourceKind, { namespace: "mirror" }, { limit: 1_000, cursor: null })).items;
        expect(shown.map(versionOf).toSorted()).toEqual(lastOf(events).map(versionOf).toSorted());
      }),
      { numRuns: 60 },
    );
  });

  interface Event {
    readonly state: Resource;
    readonly ended: boolean;
  }

  const versionOf = ({ metadata }: Resource): string => metadata.resourceVersion;

  /** A change after an end begins another life, with another uid. */
  function livesOf(changes: readonly { name: string; ends: boolean }[]): Event[] {
    const lives = new Map<string, string>();
    return changes.map(({ name, ends }, index) => {
      const uid = lives.get(name) ?? randomUUID();
      if (ends) lives.delete(name);
      else lives.set(name, uid);
      const state = mirrored(name, 1, String(9 + index), "2026-11-03T00:00:00.000Z");
      return { state: { ...state, metadata: { ...state.metadata, uid } }, ended: ends };
    });
  }

  function lastOf(events: readonly Event[]): Resource[] {
    const last = new Map(events.map((event) => [event.state.metadata.name, event]));
    return [...last.values()].filter(({ ended }) => !ended).map(({ state }) => state);
  }

  function shuffled(events: readonly Event[], order: readonly { pick: number }[]): Event[] {
    const keyed = events.map((event, index) => ({ event, key: ((order[index]?.pick ?? index) * 7_919) % 1_009 }));
    return keyed.toSorted((a, b) => a.key - b.key).map(({ event }) => event);
  }
});
