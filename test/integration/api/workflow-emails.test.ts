import { expect, test } from "vitest";
import { workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { ada, keys, withApi } from "./support.ts";

const api = withApi();

test("an email trigger is shown with its address once the workflow is deployed", async () => {
  const { body } = await api.ask("POST", "/v1/workflows", { body: { name: "Mail", triggers: [{ type: "email" }] } });
  const { id, triggers } = body.data;
  expect(triggers).toEqual([{ id: expect.stringMatching(/^ei_/), type: "email", address: null }]);
  const found = await api.store.get(workflowKind, namespaceOfOwner(ada.id), resourceNameOf(id));
  await api.store.updateStatus(workflowKind, { ...found, status: { ...found.status, email: "key@in.example.com" } });
  const shown = (await api.ask("GET", `/v1/workflows/${id}`)).body.data.triggers;
  expect(shown).toEqual([{ ...triggers[0], address: "key@in.example.com" }]);
  expect((await api.ask("PUT", `/v1/workflows/${id}`, { body: { triggers: shown } })).body.data.triggers).toEqual(shown);
  expect((await api.ask("GET", `/v1/workflows/${id}`, { key: keys.bob })).status).toBe(404);
});

test("a trigger of an unknown type is refused with the types", async () => {
  const { status, body } = await api.ask("POST", "/v1/workflows", { body: { name: "Fax", triggers: [{ type: "fax" }] } });
  expect([status, body.error]).toEqual([422, expect.stringContaining("it must be source, http, timer, email")]);
});
