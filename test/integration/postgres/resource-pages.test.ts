import { describe, expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { labels, type Resource } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind, type SourceSpec } from "../../../crds/source.ts";
import { pageOf, type PageRequest } from "../../../domain/page.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { withDatabase } from "./support.ts";

const database = withDatabase("api");
const pages = createResourcePages(database);

const idOf = ({ metadata }: Resource): string => metadata.labels[labels.id] ?? "";

describe("pages of resources", () => {
  test("every page equals that of the list in memory, also when an item is deleted between pages", async () => {
    const store = createPostgresResourceStore(database);
    const made: string[] = [];
    for (let n = 0; n < 7; n++) {
      const id = `sc_p${n}`;
      await store.create(componentKind, {
        name: `sc-p${n}`,
        namespace: "pages",
        spec: { code: "x" },
        labels: { [labels.id]: id },
      });
      made.unshift(id);
    }
    await store.create(componentKind, {
      name: "other",
      namespace: "elsewhere",
      spec: { code: "x" },
      labels: { [labels.id]: "sc_other" },
    });
    for (const limit of [1, 3, 7]) {
      for (const cursor of [
        null,
        ...made.flatMap(
          (id) =>
            [
              { side: "after", id },
              { side: "before", id },
            ] as const,
        ),
      ]) {
        const page: PageRequest = { limit, cursor };
        const found = await pages.listPage(componentKind, { namespace: "pages" }, page);
        expect(found.items.map(idOf)).toEqual(pageOf(made, (id) => id, page));
        expect(found.total).toBe(7);
      }
    }
    await store.delete(componentKind, "pages", "sc-p3");
    const next = await pages.listPage(componentKind, { namespace: "pages" }, { limit: 2, cursor: { side: "after", id: "sc_p3" } });
    expect(next.items.map(idOf)).toEqual(["sc_p2", "sc_p1"]);
    await expect(pages.listPage(componentKind, {}, { limit: 1, cursor: { side: "after", id: "sc_none" } })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
    expect(await pages.listPage(componentKind, { namespace: "empty" }, { limit: 1, cursor: null })).toEqual({
      items: [],
      total: 0,
    });
  });

  test("the newest component with a key or a code hash is found", async () => {
    const store = createPostgresResourceStore(database);
    for (const n of [1, 2]) {
      await store.create(componentKind, {
        name: `sc-k${n}`,
        namespace: "keys",
        spec: { code: "x" },
        labels: { [labels.id]: `sc_k${n}`, [labels.componentKey]: "rss-new", [labels.codeHash]: `hash${n}` },
      });
    }
    expect(
      (await pages.findNewest(componentKind, { namespace: "keys", labels: { [labels.componentKey]: "rss-new" } }))?.metadata.name,
    ).toBe("sc-k2");
    expect((await pages.findNewest(componentKind, { namespace: "keys", labels: { [labels.codeHash]: "hash1" } }))?.metadata.name).toBe(
      "sc-k1",
    );
    expect(await pages.findNewest(componentKind, { namespace: "other", labels: { [labels.codeHash]: "hash1" } })).toBeUndefined();
    expect((await pages.findById(componentKind, "sc_k1"))?.metadata.name).toBe("sc-k1");
  });

  test("finds a source by its slug within its namespace", async () => {
    const store = createPostgresResourceStore(database);
    const spec: SourceSpec = {
      componentRef: { name: "c" },
      ...defaultSettings,
      name: "n",
    };
    for (const slug of ["feed", "feed-2", "f%d"]) {
      const source = await store.create(sourceKind, {
        name: `s-${slug.replaceAll("%", "x")}`,
        namespace: "slugs",
        spec,
      });
      await store.updateStatus(sourceKind, {
        ...source,
        status: { nameSlug: slug, hookFailures: [{ hook: "deploy", error: { name: "E", message: "zero \0" } }] },
      });
    }
    const withSlug = async (namespace: string, slug: string) => (await pages.findNewest(sourceKind, { namespace, slug }))?.status.nameSlug;
    expect(await withSlug("slugs", "feed-2")).toBe("feed-2");
    expect(await withSlug("slugs", "f_d")).toBeUndefined();
    expect(await withSlug("others", "feed")).toBeUndefined();
  });
});
