import { expect, it } from "vitest";
import { emptyWorkflow, type WorkflowSpec } from "../../crds/workflow.ts";
import { resourceFrom, type ResourceRow } from "../../platform/postgres/resources/row.ts";

const rowWith = (spec: object): ResourceRow => ({
  kind: "Workflow",
  namespace: "shop",
  name: "orders",
  uid: "uid-1",
  resource_version: 1,
  created_version: 1,
  generation: 1,
  created_at: new Date(0),
  deletion_timestamp: null,
  finalizers: [],
  labels: {},
  annotations: {},
  owner_references: null,
  spec,
  status: {},
  mirrored_version: null,
});

it("adds the defaults of today to a workflow that release 0.1.0 stored without triggers and settings", () => {
  const step = { name: "a", componentRef: { name: "mailer" }, props: {} };
  const { spec, invalid } = resourceFrom<WorkflowSpec, object>(rowWith({ active: true, steps: [step] }));
  expect(invalid).toBeUndefined();
  expect(spec).toEqual({ ...emptyWorkflow, steps: [{ ...step, secrets: {}, continueOnError: false, retries: 0 }] });
});

it("marks a workflow of release 0.1.0 as invalid if a step has a name that expressions cannot read", () => {
  const { invalid } = resourceFrom(rowWith({ active: true, steps: [{ name: "send mail", componentRef: { name: "mailer" }, props: {} }] }));
  expect(invalid).toMatch(/^spec\.steps.*a step's name begins with a letter/);
});
