import { age } from "../output/time.ts";
import { kindOf, percentage } from "./kind.ts";

export const sources = kindOf({
  name: "sources",
  noun: "source",
  aliases: ["so", "st", "dc", "streams", "stream"],
  prefix: "dc",
  operations: ["listMySources", "listSources", "getSource", "deleteSource"],
  list: (client, query) => client.call("listMySources", { query }),
  listOfOrganization: (client, org, query) => client.call("listSources", { path: { org_id: org }, query }),
  get: (client, id) => client.call("getSource", { path: { id } }),
  delete: (client, id, { ignoresHookErrors, isForced }) => {
    const query = { ...(ignoresHookErrors ? { ignore_hook_errors: true } : {}), ...(isForced ? { force: true } : {}) };
    return client.call("deleteSource", { path: { id }, query });
  },
  namesOf: ({ name_slug: slug, name }) => [slug, name],
  consolePath: "sources",
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "NAME", value: ({ name_slug: slug }) => slug },
    { header: "STATE", value: ({ state }) => state, isWhole: true },
    { header: "LAST RUN", value: ({ last_run_at: at }) => age(at) },
    { header: "BACKLOG", value: ({ backlog }) => String(backlog ?? "-"), isWide: true },
    { header: "COMPONENT", value: ({ component_id: id }) => id ?? "-", isWide: true },
    { header: "AGE", value: ({ created_at: at }) => age(at) },
    { header: "PROBLEM", value: ({ problem }) => problem?.message ?? "" },
  ],
});

export const workflows = kindOf({
  name: "workflows",
  noun: "workflow",
  aliases: ["wf"],
  prefix: "p",
  operations: ["listMyWorkflows", "listWorkflows", "getWorkflow", "deleteWorkflow"],
  list: (client, query) => client.call("listMyWorkflows", { query }),
  listOfOrganization: (client, org, query) => client.call("listWorkflows", { path: { org_id: org }, query }),
  get: (client, id) => client.call("getWorkflow", { path: { workflow_id: id } }),
  delete: (client, id) => client.call("deleteWorkflow", { path: { workflow_id: id } }),
  namesOf: ({ name }) => [name],
  consolePath: "workflows",
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "NAME", value: ({ name }) => name },
    { header: "STATE", value: ({ state }) => state, isWhole: true },
    { header: "TRIGGERS", value: ({ triggers }) => triggers.map(({ type }) => type).join(",") },
    { header: "STEPS", value: ({ steps }) => String(steps.length) },
    { header: "VERSION", value: ({ deployment_id: id }) => id ?? "-", isWide: true },
    { header: "SUCCESS", value: ({ success_rate: rate }) => percentage(rate), isWide: true },
    { header: "AGE", value: ({ created_at: at }) => age(at) },
    { header: "PROBLEM", value: ({ problem }) => problem?.message ?? "" },
  ],
});

export const components = kindOf({
  name: "components",
  noun: "component",
  aliases: ["co", "sc"],
  prefix: "sc",
  operations: ["listComponents", "getComponent", "deleteComponent"],
  list: (client, query) => client.call("listComponents", { query }),
  get: async (client, key) => (await client.call("getComponent", { path: { key } })) as never, // With the code, without some fields of the list.
  delete: (client, key) => client.call("deleteComponent", { path: { key } }),
  namesOf: ({ key }) => [key],
  consolePath: "components",
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "KEY", value: ({ key }) => key ?? "-" },
    { header: "NAME", value: ({ name }) => name },
    { header: "VERSION", value: ({ version }) => version ?? "-" },
    { header: "TYPE", value: ({ type }) => type },
    { header: "AGE", value: ({ created_at: at }) => age(at) },
  ],
});
