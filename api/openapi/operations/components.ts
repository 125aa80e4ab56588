import { query } from "../../routes/component-lists.ts";
import { creation, selection } from "../../routes/components.ts";
import { options, values } from "../../routes/configuration.ts";
import { componentSchema, listedComponentSchema, optionsSchema, propsSchema } from "../../responses/schemas.ts";
import { owned, pages } from "../fields.ts";
import { one, page, type Operations } from "../operation.ts";

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
    summary: "Find components, those of the registry among them",
    query: query.extend(owned.shape),
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
  "GET /components/:key/versions": {
    id: "listVersions",
    summary: "Saved components with the same key",
    query: named.extend(pages.shape),
    answers: page(listedComponentSchema),
  },
  "POST /components/:key/options": {
    id: "listComponentOptions",
    summary: "The choices of a prop whose options are a function",
    query: named,
    body: options,
    answers: one(optionsSchema),
    errors: [504],
  },
  "POST /components/:key/props": {
    id: "listComponentProps",
    summary: "All props for the values chosen so far",
    query: named,
    body: values,
    answers: one(propsSchema),
    errors: [504],
  },
} as const satisfies Operations;
