import { options, values } from "../../configuration/operations.ts";
import { optionsSchema, propsSchema, sourceSchema } from "../../resources/schemas.ts";
import { sourceFilters } from "../../sources/list-filters.ts";
import { deletionFields, sourceFields, updateFields } from "../../sources/request.ts";
import { mine, owned, pages } from "../fields.ts";
import { nothing, one, page, type Operations } from "../operation.ts";

export const sourceOperations = {
  "GET /users/me/sources": {
    id: "listMySources",
    summary: "The caller's sources",
    query: mine.extend(sourceFilters.shape),
    answers: page(sourceSchema),
  },
  "GET /orgs/:org_id/sources": {
    id: "listSources",
    summary: "An organization's sources",
    query: pages.extend(sourceFilters.shape),
    answers: page(sourceSchema),
  },
  "POST /sources": {
    id: "createSource",
    summary: "Deploy a component",
    description: "Waits until it is deployed and its hooks have run. One that cannot be deployed is gone again.",
    query: owned,
    body: sourceFields,
    takesFiles: true,
    answers: one(sourceSchema),
    errors: [404, 504],
  },
  "GET /sources/:id": { id: "getSource", summary: "A source", answers: one(sourceSchema) },
  "PUT /sources/:id": {
    id: "updateSource",
    summary: "Change a source",
    description:
      "What is given changes, then it is deployed again. Beside code, name and active have the defaults of a new one. When the update fails, the version before goes on running, and GET shows that one.",
    query: deletionFields,
    body: updateFields,
    takesFiles: true,
    answers: one(sourceSchema),
    errors: [409, 504],
  },
  "DELETE /sources/:id": {
    id: "deleteSource",
    summary: "End a source, its timers, its address and its history",
    query: deletionFields,
    answers: nothing,
    errors: [409],
  },
  "POST /sources/:id/options": {
    id: "listSourceOptions",
    onlyReads: true,
    summary: "The choices of a prop whose options are a function",
    body: options,
    answers: one(optionsSchema),
    errors: [504],
  },
  "POST /sources/:id/props": {
    id: "listSourceProps",
    onlyReads: true,
    summary: "All props for the values chosen so far",
    body: values,
    answers: one(propsSchema),
    errors: [504],
  },
} as const satisfies Operations;
