import { z } from "zod";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";

const spec = z.object({
  name: z.string().min(1).max(255).optional().describe("Display name. If absent, the name of the resource."),
  description: z.string().max(2_000).optional().describe("What it is for."),
});
export type DataStoreSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  updatedAt: z.int().optional().describe("When the operator saw the last change of the spec, epoch milliseconds."),
});
export type DataStoreStatus = z.infer<typeof status>;
export type DataStoreResource = Resource<DataStoreSpec, DataStoreStatus>;

export const dataStoreKind = defineKind<DataStoreSpec, DataStoreStatus>({
  kind: "DataStore",
  plural: "datastores",
  shortNames: ["hwds"],
  description: "Keys with JSON values, which sources, steps of workflows and the API of an owner share. Deleting it deletes its entries.",
  columns: columnsOf({ name: "Name", type: "string", path: ".spec.name", description: "Display name." }),
  selectable: [".status.id"],
  immutable: [],
  spec,
  status,
});
