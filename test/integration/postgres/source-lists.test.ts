import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { sourceHealth } from "../../../crds/source-health.ts";
import { labels, type Condition, type Resource } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind, type SourceSpec, type SourceStatus } from "../../../crds/source.ts";
import { disabledCode } from "../../../domain/run/kills.ts";
import { pageOf, type PageRequest } from "../../../domain/page.ts";
import { healthStates } from "../../../domain/source/source-health.ts";
import { createActivity } from "../../../platform/postgres/history/activity.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import type { SourceSelection } from "../../../platform/postgres/resources/source-selection.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

const postgres = withMigratedPostgres();
const [api, operator, recorder] = [withDatabase("api", postgres), withDatabase("operator", postgres), withDatabase("delivery", postgres)];
const store = createPostgresResourceStore(operator);
const pages = createResourcePages(api);
const namespace = "lists";

const spec: SourceSpec = { componentRef: { name: "c" }, ...defaultSettings };
const idOf = ({ metadata }: Resource): string => metadata.labels[labels.id] ?? "";

async function addSource(id: string, given: Partial<SourceSpec> = {}, status: SourceStatus = {}): Promise<void> {
  const name = id.replace("_", "-");
  const created = await store.create(sourceKind, { name, namespace, spec: { ...spec, ...given }, labels: { [labels.id]: id } });
  await store.updateStatus(sourceKind, { ...created, status: { id, ...status } });
}

async function addComponent(name: string, key?: string): Promise<void> {
  const created = await store.create(componentKind, { name, namespace, spec: { code: "x" } });
  const definition = {
    name,
    type: "source",
    props: [],
    hooks: [],
    hasAdditionalProps: false,
    ...(key === undefined ? {} : { key }),
  } as const;
  const build = { codeHash: "h", bundle: "b", bundleBytes: 1, needsNode: false, definition, lockfile: null };
  await store.updateStatus(componentKind, { ...created, status: { build } });
}

const list = async (sources: SourceSelection, page: PageRequest = { limit: 1_000, cursor: null }) =>
  pages.listPage(sourceKind, { namespace, sources }, page);
const idsOf = async (sources: SourceSelection): Promise<readonly string[]> => (await list(sources)).items.map(idOf).toSorted();

const ready = (status: Condition["status"], reason: string, observedGeneration = 1): Pick<SourceStatus, "conditions"> => ({
  conditions: [
    { type: "Stalled", status: "False", reason, message: "", lastTransitionTime: "2026-11-21T12:00:00Z", observedGeneration },
    { type: "Ready", status, reason, message: "a \0 in it", lastTransitionTime: "2026-11-21T12:00:00Z", observedGeneration },
  ],
});

describe("lists of sources by state", () => {
  const verdicts = {
    none: {},
    old: ready("True", "Deployed", 0),
    ready: ready("True", "Deployed"),
    hook: ready("False", "HookRunning"),
    failed: ready("False", "UpdateFailed"),
    disabled: ready("False", "SourceDisabled"),
  };
  const thrown = { name: "Error", message: `"code":"${disabledCode}" is only text` };
  const disabling = { name: "SourceDisabled", message: "x", code: disabledCode };
  /** Errors of the runs in order; null is a success. */
  const runs = { never: [], fine: [thrown, null], failing: [null, thrown], disabling: [thrown, disabling] };
  const running = { ...defaultSettings, active: false };

  beforeAll(async () => {
    let n = 0;
    for (const [verdict, conditions] of Object.entries(verdicts))
      for (const [ran, errors] of Object.entries(runs))
        for (const active of [true, false])
          for (const [deployment, more] of [
            ["d_1", {}],
            ["d_2", { running }],
          ] as const) {
            const id = `dc_${verdict}${ran}${++n}`;
            await addSource(id, { active, name: `a "quoted" \0 name` }, { ...conditions, deployment, ...more });
            for (const error of errors)
              await sql`insert into runs (source, id, owner, deployment, started_ms, failed, summary)
                values (${id}, ${`r_${id}`}, 'u_1', 'd_1', ${n}, ${error !== null}, ${JSON.stringify({ error })})`.execute(recorder.db);
          }
  });

  test("agree with the state in each source's own response", async () => {
    const all = (await list({})).items as readonly Resource<SourceSpec, SourceStatus>[];
    const activity = await createActivity(api).since(all.map((source) => ({ source: idOf(source), lastRunAt: 0 })));
    const failing = new Map(activity.map((each) => [each.source, each.failing]));
    const states = Map.groupBy(all, (source) => sourceHealth(source, failing.get(idOf(source))).state);
    expect([...states.keys()].toSorted()).toEqual([...healthStates].toSorted());
    for (const state of healthStates) {
      const expected = states.get(state)?.map(idOf) ?? [];
      expect(await idsOf({ state })).toEqual(expected.toSorted());
      expect((await list({ state }, { limit: 1, cursor: null })).total).toBe(expected.length);
    }
  });

  test("have pages like other lists, also with cursors of sources that are not in the list", async () => {
    const all = (await list({})).items.map(idOf);
    const failing = (await list({ state: "failing" })).items.map(idOf);
    for (const limit of [1, 3])
      for (const id of failing.slice(0, 6))
        for (const side of ["after", "before"] as const) {
          const page: PageRequest = { limit, cursor: { side, id } };
          const found = await list({ state: "failing" }, page);
          expect(found.items.map(idOf)).toEqual(pageOf(failing, (each) => each, page));
          expect(found.total).toBe(failing.length);
        }
    const other = all.find((id) => !failing.includes(id) && all.indexOf(id) > 2) ?? "";
    const behind = failing.filter((id) => all.indexOf(id) > all.indexOf(other));
    expect((await list({ state: "failing" }, { limit: 1_000, cursor: { side: "after", id: other } })).items.map(idOf)).toEqual(behind);
  });
});

describe("lists of sources by text and component key", () => {
  beforeAll(async () => {
    await addComponent("keyed", "shop-New_Order");
    await addComponent("mail-code", "mail-in");
    await addSource("dc_orders", { name: "Orders of 100%", componentRef: { name: "keyed" } }, { nameSlug: "orders-of-100" });
    const { componentRef: _, ...own } = spec;
    await store.create(sourceKind, { name: "mail", namespace, spec: { ...own, code: "x" }, labels: { [labels.id]: "dc_mail" } });
    await store.updateStatus(sourceKind, { ...(await store.get(sourceKind, namespace, "mail")), status: { component: "mail-code" } });
    const running = { ...spec, name: "Before", componentRef: { name: "keyed" } };
    await addSource("dc_updated", { name: "Afterwards", componentRef: { name: "absent" } }, { running });
  });

  test.each([
    ["ORDERS OF", ["dc_orders"]],
    ["100%", ["dc_orders"]],
    ["of-100", ["dc_orders"]],
    ["_mail", ["dc_mail"]],
    ["DC_ORDERS", ["dc_orders"]],
    ["new_order", ["dc_orders", "dc_updated"]],
    ["mail-IN", ["dc_mail"]],
    ["before", ["dc_updated"]],
    ["afterwards", []],
    ["%", ["dc_orders"]],
  ])("%s finds %j", async (text, ids) => {
    expect(await idsOf({ text })).toEqual(ids);
  });

  test("compare the complete key of the running component", async () => {
    expect(await idsOf({ componentKey: "shop-New_Order" })).toEqual(["dc_orders", "dc_updated"]);
    expect(await idsOf({ componentKey: "shop-new_order" })).toEqual([]);
    expect(await idsOf({ componentKey: "mail-in", state: "deploying" })).toEqual(["dc_mail"]);
    expect(await idsOf({ componentKey: "mail-in", state: "active" })).toEqual([]);
    expect(await idsOf({ componentKey: "shop-New_Order", text: "orders" })).toEqual(["dc_orders"]);
  });
});
