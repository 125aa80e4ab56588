import type { Build } from "../../domain/component/definition.ts";
import { warningsOfKind } from "../../domain/component/kind-warnings.ts";
import type { Warning } from "../../domain/component/warning.ts";
import { componentKind } from "../../crds/component.ts";
import { labels } from "../../crds/resource.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { pageInfo } from "../../domain/page.ts";
import { operation } from "../context.ts";
import { type Reply, noContent, ok } from "../http/response/replies.ts";
import { ownerParameters, ownPages, parsePage } from "../http/request/parameters.ts";
import { all, nothing, one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import type { Answered } from "../http/response/answered.ts";
import { codeOf } from "./code.ts";
import { deleteComponent } from "./delete.ts";
import { componentOf } from "./find.ts";
import type { ListedComponent, ListedComponents } from "../resources/library/ports.ts";
import { componentFields, detailedSearch, dryRun, publishedSelection, search, selection } from "./request.ts";
import {
  componentResponse,
  draftComponentResponse,
  listedComponentResponse,
  publishedComponentResponse,
  publishedVersionResponse,
} from "./response.ts";
import { componentSchema, foundKeysSchema, listedComponentSchema, publishedComponentSchema, publishedVersionSchema } from "./schemas.ts";
import { deprecationOf } from "../resources/library/registry.ts";
import { searchComponents, searchKeys } from "./search.ts";

const named = selection.extend(ownerParameters.shape);
const none: ListedComponents = { items: [], total: 0 };

/** Paths without parameters come first: `/components/search` must not be taken for a key. */
export const componentOperations = [
  operation({
    route: "GET /components",
    id: "listComponents",
    summary: "List saved components",
    query: ownPages,
    responses: page(listedComponentSchema),
    handle: async (call, { access, ports }) => {
      const request = parsePage(call.parameters);
      const namespace = await ports.owners.find(await access.owner(call));
      return pageOf(namespace === undefined ? none : await ports.library.listPage({ namespace }, request));
    },
  }),
  operation({
    route: "POST /components",
    id: "saveComponent",
    change: { action: "create", kind: "Component", unlessDryRun: true },
    summary: "Save a component",
    description:
      "Waits until the component is built. Saving the same code again returns the same component. With `dry_run` it is built, and not saved.",
    query: ownerParameters.extend(dryRun.shape),
    neverEmpty: ["dry_run"],
    body: componentFields,
    takesFiles: true,
    responses: one(componentSchema),
    handle: async (call, { access, components, ports }) => {
      const fields = call.body();
      const owner = await access.owner(call);
      const code = await codeOf(fields, owner, ports);
      if (code === undefined)
        throw new InvalidInput("no code is given: send component_code, component_files or component_url", { code: "component_missing" });
      if (call.query().dry_run === true) {
        const draft = await components.build(owner, code);
        return ok(draftComponentResponse(draft, fields.component_url, ports.clock.now()), warningsOf(draft.build));
      }
      const saved = await components.save(owner, code, { url: fields.component_url });
      return ok(componentResponse(saved), warningsOf(saved.status.build));
    },
  }),
  operation({
    route: "GET /components/search",
    id: "searchComponents",
    summary: "Find keys of components, including those of the registry",
    description: "Best first, up to `limit` of each type. The response has no `data`: it is the form that known clients read.",
    query: search.extend(ownerParameters.shape),
    responses: { 200: foundKeysSchema },
    handle: async (call, context) => ({ status: 200, json: await searchKeys(call.query(), call, context) }),
  }),
  operation({
    route: "GET /components/search/details",
    id: "searchComponentDetails",
    summary: "Find components, including those of the registry",
    query: detailedSearch.extend(ownerParameters.shape),
    responses: page(listedComponentSchema),
    handle: async (call, context) => {
      const { similarity_threshold: similarity = 1, ...given } = call.query();
      return pageOf(await searchComponents({ ...given, similarity }, call, context), false);
    },
  }),
  operation({
    route: "GET /components/registry",
    id: "listRegistry",
    summary: "List the components of the registry",
    responses: page(listedComponentSchema),
    handle: async (_call, { registry }) => pageOf(await registry.list(), false),
  }),
  operation({
    route: "GET /components/registry/:key",
    id: "getPublishedComponent",
    summary: "Get a component of the registry",
    description: "Its newest version that is not deprecated, or that of `version`.",
    query: publishedSelection,
    responses: one(publishedComponentSchema),
    handle: async (call, { registry }) => {
      const { version } = call.query();
      const found = await registry.get(pathOf(call, "key"), version === "" ? undefined : version);
      return ok(publishedComponentResponse(found), deprecationOf(found));
    },
  }),
  operation({
    route: "GET /components/registry/:key/versions",
    id: "listPublishedVersions",
    summary: "List the versions of a component of the registry",
    responses: all(publishedVersionSchema),
    handle: async (call, { registry }) => ok((await registry.listVersions(pathOf(call, "key"))).map(publishedVersionResponse)),
  }),
  operation({
    route: "GET /components/:key",
    id: "getComponent",
    summary: "Get a component",
    query: named,
    responses: one(componentSchema),
    handle: async (call, context) => ok(componentResponse(await componentOf(call, context))),
  }),
  operation({
    route: "DELETE /components/:key",
    id: "deleteComponent",
    change: { action: "delete", kind: "Component" },
    summary: "Delete a component that no source or workflow uses",
    description: "By id only, because several components can share a key.",
    responses: nothing,
    errors: [409],
    handle: async (call, { access, ports, restore }) => {
      await deleteComponent(await access.get(componentKind, "component", pathOf(call, "key"), call.user), ports, restore);
      return noContent;
    },
  }),
  operation({
    route: "GET /components/:key/versions",
    id: "listVersions",
    summary: "List saved components with the same key",
    query: named.extend(ownPages.shape),
    responses: page(listedComponentSchema),
    handle: async (call, context) => {
      const request = parsePage(call.parameters);
      const { metadata } = await componentOf(call, context);
      const keyLabel = metadata.labels[labels.componentKey];
      if (keyLabel === undefined) throw new NotFound("the component has no key, so it has no other versions");
      return pageOf(await context.ports.library.listPage({ namespace: metadata.namespace, keyLabel }, request));
    },
  }),
];

const warningsOf = (build: Build | undefined): readonly Warning[] =>
  build === undefined ? [] : [...(build.warnings ?? []), ...warningsOfKind(build.definition)];

/** Searches are sorted by relevance and have no cursors, because positions in them are not stable. */
function pageOf({ items, total }: ListedComponents, hasCursors = true): Reply<readonly Answered<typeof listedComponentSchema>[]> {
  const page_info = pageInfo(hasCursors ? items.map(({ id }: ListedComponent) => id) : [], total);
  return { status: 200, body: { page_info: { ...page_info, count: items.length }, data: items.map(listedComponentResponse) } };
}
