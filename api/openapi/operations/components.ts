import { detailedSearch, search } from "../../components/list-operations.ts";
import { creation, selection } from "../../components/operations.ts";
import { options, values } from "../../configuration/operations.ts";
import { componentSchema, foundKeysSchema, listedComponentSchema, optionsSchema, propsSchema } from "../../resources/schemas.ts";
import { owned, pages } from "../fields.ts";
import { nothing, one, page, type Operations } from "../operation.ts";

const named = selection.extend(owned.shape);

export const componentOperations = {
  "GET /components": {
    id: "listComponents",
    summary: "Saved components",
    query: pages.extend(owned.shape),
    answers: page(listedComponentSchema),
  },
  "POST /components": {
    id: "saveComponent",
    summary: "Save a component",
    description: "Waits until it is built. Saving the same code again answers the same component.",
    query: owned,
    body: creation,
    takesFiles: true,
    answers: one(componentSchema),
  },
  "GET /components/search": {
    id: "searchComponents",
    summary: "Find the keys of components, those of the registry among them",
    description: "Best first, up to `limit` of each type.",
    query: search.extend(owned.shape),
    answers: { 200: foundKeysSchema },
  },
  "GET /components/search/details": {
    id: "searchComponentDetails",
    summary: "Find components, those of the registry among them",
    query: detailedSearch.extend(owned.shape),
    means: { similarity_threshold: "Share of the words that must occur, from 0 to 1; 1 unless given." },
    answers: page(listedComponentSchema),
  },
  "GET /components/registry": { id: "listRegistry", summary: "The components of the registry", answers: page(listedComponentSchema) },
  "GET /components/registry/:key": {
    id: "getPublishedComponent",
    summary: "A component of the registry",
    query: selection,
    answers: one(componentSchema),
  },
  "GET /components/:key": { id: "getComponent", summary: "A component", query: named, answers: one(componentSchema) },
  "DELETE /components/:key": {
    id: "deleteComponent",
    summary: "Delete a component that no source or workflow uses, by its id",
    answers: nothing,
    errors: [409],
  },
  "GET /components/:key/versions": {
    id: "listVersions",
    summary: "Saved components with the same key",
    query: named.extend(pages.shape),
    answers: page(listedComponentSchema),
  },
  "POST /components/:key/options": {
    id: "listComponentOptions",
    onlyReads: true,
    summary: "The choices of a prop whose options are a function",
    query: named,
    body: options,
    answers: one(optionsSchema),
    errors: [504],
  },
  "POST /components/:key/props": {
    id: "listComponentProps",
    onlyReads: true,
    summary: "All props for the values chosen so far",
    query: named,
    body: values,
    answers: one(propsSchema),
    errors: [504],
  },
} as const satisfies Operations;
