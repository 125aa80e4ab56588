import { expect, test } from "vitest";
import { workflowKind, emptyWorkflow } from "../../crds/workflow.ts";
import { stepId } from "../../domain/workflow/step-id.ts";
import { requestDraft, requestSourceDraft } from "../../platform/jetstream/requests/configure-requests.ts";
import { namespace, options, withConfigureWorld } from "./configure-world.ts";

const world = withConfigureWorld();
const code = `export default { name: "c", type: "action", props: { token: { type: "string", secret: true }, team: "string", board: { type: "string",
  async options() { return [this.token + "/" + this.team]; } } }, run() {} }`;

async function workflowWith(component: string, name: string): Promise<void> {
  const created = await world.store.create(workflowKind, {
    namespace,
    name,
    spec: {
      ...emptyWorkflow,
      steps: [
        {
          name: "fetch",
          componentRef: { name: component },
          props: { team: "own", board: "{{ steps.trigger.event.board }}" },
          secrets: { token: { secretKeyRef: { name: "stored", key: "token" } } },
          continueOnError: false,
          retries: 0,
        },
      ],
    },
  });
  await world.store.updateStatus(workflowKind, { ...created, status: { id: `p_${name}`, observedGeneration: 1 } });
}

const sealed = (draft: object, workflow: string) => requestDraft(world.connection.nats, { namespace, workflow, draft: [draft] });
const step = (component: string, fields: object = {}) => ({
  name: "fetch",
  component,
  props: { team: "new" },
  continueOnError: true,
  retries: 1,
  timeoutMs: 500,
  ...fields,
});
const secretsOf = async (draft: object, workflow: string): Promise<unknown> => {
  const [found] = await sealed(draft, workflow);
  return found?.secrets === null || found === undefined ? null : JSON.parse(await world.open(found.secrets));
};

test("seals the secrets of a draft's steps for the pool, and uses stored ones for absent ones", async () => {
  const component = await world.save(code);
  await workflowWith(component, "drafts");
  expect(await sealed(step(component), "drafts")).toEqual([
    {
      id: stepId("p_drafts", "fetch"),
      name: "fetch",
      bundle: expect.any(String),
      needsNode: false,
      props: { team: "new" },
      secrets: expect.any(String),
      continueOnError: true,
      retries: 1,
      timeoutMs: 500,
    },
  ]);
  expect(await secretsOf(step(component), "drafts")).toEqual({ token: "text of stored" });
  expect(await secretsOf(step(component, { props: { team: "new", token: "given" } }), "drafts")).toEqual({ token: "given" });
  expect(await secretsOf(step(component, { props: { team: "new", token: null } }), "drafts")).toBeNull();
  expect(await secretsOf(step(component, { name: "other" }), "drafts")).toBeNull();
  expect(await secretsOf(step(component, { name: "renamed", id: stepId("p_drafts", "fetch") }), "drafts")).toEqual({
    token: "text of stored",
  });
});

test("never shows a secret of a draft in plain text", async () => {
  const component = await world.save(code);
  await workflowWith(component, "hidden");
  expect(JSON.stringify(await sealed(step(component, { props: { token: "very-secret" } }), "hidden"))).not.toContain("very-secret");
});

test("lists options of a step with its stored secrets, and leaves out values with expressions", async () => {
  await world.wakeRunner();
  const component = await world.save(code);
  await workflowWith(component, "optional");
  const ask = (more: object) => world.ask(component, options("board"), { workflow: "optional", step: "fetch", ...more });
  expect(await ask({})).toMatchObject({ options: ["text of stored/own"] });
  expect(await ask({ props: { team: "other" } })).toMatchObject({ options: ["text of stored/other"] });
});

test("seals the secrets of a source that is not deployed, and leaves its other props readable", async () => {
  const component = await world.save(
    `export default { name: "s", dedupe: "unique", props: { token: { type: "string", secret: true }, team: "string" }, run() {} }`,
  );
  const draft = { namespace, tested: component, props: { token: "t-1", team: "new" } };
  const deployment = await requestSourceDraft(world.connection.nats, draft);
  expect(deployment).toMatchObject({ props: { team: "new" }, dedupe: "unique", hooks: [], endpoint: null, active: true });
  expect(JSON.parse(await world.open(deployment.secrets ?? ""))).toEqual({ token: "t-1" });
  const account = { ...draft, props: { ...draft.props, shop: { authProvisionId: "apn_missing" } } };
  const withAccount = await world.save(`export default { name: "a", props: { shop: { type: "app", app: "shop" } }, run() {} }`);
  await expect(requestSourceDraft(world.connection.nats, { ...account, tested: withAccount })).rejects.toMatchObject({
    code: "not_configurable",
  });
  await expect(requestSourceDraft(world.connection.nats, { ...draft, tested: "missing" })).rejects.toMatchObject({ status: 404 });
});
