import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual } from "./session.ts";
import { autoSubscription, component, dataOf, pageOf, subscription, user, webhook } from "./shapes.ts";

const organization = z.looseObject({ id: z.string(), name: z.string(), orgname: z.string(), email: z.string() });
const healthy = z.looseObject({
  id: z.string(),
  component_id: z.string(),
  state: z.enum(["active", "paused", "failing", "disabled", "deploying"]),
  problem: z.looseObject({ code: z.string(), message: z.string(), since: z.int() }).nullable(),
  last_run_at: z.int().nullable(),
  last_error: z.looseObject({ message: z.string(), at: z.int() }).nullable(),
  next_tick_at: z.int().nullable(),
  backlog: z.int().nullable(),
});
const workflow = z.looseObject({ id: z.string(), settings: z.looseObject({ error_mails: z.boolean() }) });
const warningList = z.array(z.looseObject({ code: z.string(), message: z.string(), path: z.string() }));
const token = z.looseObject({ access_token: z.string(), token_type: z.literal("Bearer"), expires_in: z.int(), created_at: z.int() });

/** Additions of Headwater that programs rely on. */
export const ownRules: readonly Rule[] = [
  {
    about: "Workflows",
    name: "POST takes the spelling of resources within settings, and warns about unknown fields there with the nearest name and the path",
    check: async (session) => {
      const { data, warnings } = await session.get(dataOf(workflow).extend({ warnings: warningList }), "POST", "/workflows", {
        name: `${session.tag} settings`,
        settings: { errorMails: false, orderd: true },
      });
      session.keep(`/workflows/${data.id}`);
      expectEqual("the setting", data.settings.error_mails, false);
      const [{ code, path, message } = { code: "", path: "", message: "" }] = warnings;
      expectEqual("the warning", [code, path, message.includes("did you mean ordered?")], ["unknown_field", "settings.orderd", true]);
    },
  },
  {
    about: "OAuth",
    name: "POST /oauth/token takes a user's id and an API key as client credentials",
    check: async (session) => {
      const { data: me } = await session.get(dataOf(user), "GET", "/users/me");
      const fields = { grant_type: "client_credentials", client_id: me.id, client_secret: session.key };
      const raw = new URLSearchParams(fields).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const answer = await session.ask("POST", "/oauth/token", { raw, headers, key: null });
      const { access_token } = token.parse(answer.body);
      await session.expectStatus(200, "GET", "/users/me", { key: access_token });
      const wrong = await session.ask("POST", "/oauth/token", { body: { ...fields, client_secret: "wrong" }, key: null });
      expectEqual("the refusal", [wrong.status, z.looseObject({ error: z.string() }).parse(wrong.body).error], [401, "invalid_client"]);
    },
  },
  {
    about: "Components",
    name: "DELETE /components/{id} is refused while a source runs it",
    check: async (session) => {
      const code = `export default { name: "Conformance Deleted", version: "0.1.0", run() { /* ${session.tag} */ } };`;
      const { data } = await session.get(dataOf(component), "POST", "/components", { component_code: code });
      const { data: source } = await session.get(dataOf(z.object({ id: z.string() })), "POST", "/sources", { component_id: data.id });
      session.keep(`/sources/${source.id}`);
      const { status, text } = await session.ask("DELETE", `/components/${data.id}`);
      expectEqual("the refusal", [status, text.includes(source.id)], [409, true]);
      await session.expectStatus(204, "DELETE", `/sources/${source.id}`);
      await session.expectStatus(204, "DELETE", `/components/${data.id}`);
      await session.expectStatus(404, "GET", `/components/${data.id}`);
    },
  },
  {
    about: "Sources",
    name: "GET shows the health of a source, and lists filter by state, text and component key",
    check: async (session) => {
      const key = `health-${session.tag}`.toLowerCase();
      const code = `export default { name: "Conformance Health", key: "${key}", version: "0.1.0", run() {} };`;
      const { data: created } = await session.get(dataOf(healthy), "POST", "/sources", {
        component_code: code,
        name: `${session.tag} health`,
      });
      session.keep(`/components/${created.component_id}`);
      session.keep(`/sources/${created.id}`);
      const { data: quiet } = await session.get(dataOf(healthy), "GET", `/sources/${created.id}`);
      expectEqual("a source that never ran", [quiet.state, quiet.problem, quiet.last_run_at], ["active", null, null]);
      const listed = async (query: string): Promise<readonly string[]> =>
        (await session.get(pageOf(healthy), "GET", `/users/me/sources?${query}`)).data.map(({ id }) => id);
      const name = encodeURIComponent(session.tag.toUpperCase());
      for (const query of [`component_key=${key}`, `component_key=${key}&state=active`, `q=${key}`, `component_key=${key}&q=${name}`])
        expectEqual(query, await listed(query), [created.id]);
      expectEqual("those that are paused", await listed(`component_key=${key}&state=paused`), []);
      const { data: paused } = await session.get(dataOf(healthy), "PUT", `/sources/${created.id}`, { active: false });
      expectEqual("the state of a paused source", paused.state, "paused");
      await eventually(async () => expectEqual("those that are paused", await listed(`component_key=${key}&state=paused`), [created.id]));
      await session.expectStatus(422, "GET", "/users/me/sources?state=broken");
      await session.expectStatus(204, "DELETE", `/sources/${created.id}`);
      await session.expectStatus(204, "DELETE", `/components/${created.component_id}`);
    },
  },
  {
    about: "Organizations",
    name: "a user creates an organization, invites members and deletes it; its resources name it as owner",
    check: async (session) => {
      const { data: me } = await session.get(dataOf(user), "GET", "/users/me");
      const { data } = await session.get(dataOf(organization), "POST", "/orgs", { name: session.tag });
      session.keep(`/orgs/${data.id}`);
      const members = dataOf(z.array(z.looseObject({ user_id: z.string(), role: z.string() })));
      const rolesOf = async () =>
        (await session.get(members, "GET", `/orgs/${data.id}/members`)).data.map(({ role, user_id }) => [role, user_id]);
      expectEqual("the members", await rolesOf(), [["admin", me.id]]);
      const invitation = dataOf(z.looseObject({ id: z.string(), email: z.string(), role: z.string() }));
      const { data: invited } = await session.get(invitation, "POST", `/orgs/${data.id}/members`, { email: "conformance@example.com" });
      expectEqual("the role offered", invited.role, "member");
      expectEqual("the members after the invitation", await rolesOf(), [["admin", me.id]]);
      await session.expectStatus(404, "POST", `/users/me/invitations/${invited.id}/accept`);
      await session.expectStatus(204, "DELETE", `/orgs/${data.id}/invitations/${invited.id}`);
      const owned = webhook.extend({ owner_id: z.string() });
      const { data: hook } = await session.get(dataOf(owned), "POST", `/webhooks?url=https://example.com/&org_id=${data.id}`);
      const { data: listed } = await session.get(dataOf(z.array(owned)), "GET", `/orgs/${data.id}/webhooks`);
      expectEqual(
        "the owner in the list",
        listed.map(({ owner_id }) => owner_id),
        [data.id],
      );
      await session.expectStatus(200, "GET", `/webhooks/${hook.id}?org_id=${data.id}`);
      await session.expectStatus(409, "DELETE", `/orgs/${data.id}`);
      await session.expectStatus(204, "DELETE", `/webhooks/${hook.id}`);
      // A deleted webhook counts as owned until the operator has released it.
      await eventually(() => session.expectStatus(204, "DELETE", `/orgs/${data.id}`));
    },
  },
  {
    about: "Namespaces",
    name: "namespaces are listed with what they lack, and one that is not confirmed cannot be withdrawn",
    check: async (session) => {
      const claimed = z.looseObject({ name: z.string(), confirmed_at: z.number().nullable(), labelled: z.boolean(), in_use: z.boolean() });
      const { data } = await session.get(dataOf(z.array(claimed)), "GET", "/namespaces");
      for (const { name, labelled, in_use: inUse } of data) if (inUse) expectEqual(`the label of ${name}, which is in use`, labelled, true);
      await session.expectStatus(404, "DELETE", `/namespaces/${session.tag.toLowerCase()}`);
      await session.expectStatus(422, "POST", "/namespaces", { body: { name: "Not A Namespace" } });
    },
  },
  {
    about: "Organizations",
    name: "an address that a user names for an organization is not confirmed",
    check: async (session) => {
      const confirmed = dataOf(organization.extend({ email_confirmed: z.boolean() }));
      const { data } = await session.get(confirmed, "POST", "/orgs", { name: `${session.tag} mail`, email: `${session.tag}@example.com` });
      session.keep(`/orgs/${data.id}`);
      expectEqual("whether mails go there", data.email_confirmed, false);
      await session.expectStatus(404, "POST", "/orgs/o_000000000000/email_confirmation");
      await session.expectStatus(204, "DELETE", `/orgs/${data.id}`);
    },
  },
  {
    about: "Auto-subscriptions",
    name: "auto-subscriptions are made, listed and deleted",
    check: async (session) => {
      const listener = session.recall("webhook");
      const query = `event_name=%24logs&listener_id=${listener}`;
      const list = async (): Promise<readonly string[]> => {
        const { data } = await session.get(pageOf(autoSubscription), "GET", "/users/me/auto_subscriptions?limit=100");
        return data.filter((each) => each.listener_id === listener).map((each) => each.event_name);
      };
      await session.get(z.unknown(), "POST", `/auto_subscriptions?${query}`);
      await eventually(async () => expectEqual("channels", await list(), ["$logs"]));
      await session.get(z.unknown(), "DELETE", `/auto_subscriptions?${query}`);
      await eventually(async () => expectEqual("channels", await list(), []));
    },
  },
  {
    about: "Subscriptions",
    name: "a workflow's source trigger is one subscription, which ends with the trigger",
    check: async (session) => {
      const emitter = session.recall("source");
      const body = { name: `${session.tag} triggered`, triggers: [{ source_id: emitter }] };
      const { data: workflow } = await session.get(dataOf(z.object({ id: z.string() })), "POST", "/workflows", body);
      session.keep(`/workflows/${workflow.id}`);
      const query = `emitter_id=${emitter}&listener_id=${workflow.id}&event_name=`;
      const listed = async () => {
        const { data } = await session.get(dataOf(z.array(subscription)), "GET", "/users/me/subscriptions");
        return data.filter((each) => each.listener_id === workflow.id).map(({ id }) => id);
      };
      await eventually(async () => expectEqual("the number of subscriptions", (await listed()).length, 1));
      const { data: repeated } = await session.get(dataOf(subscription), "POST", `/subscriptions?${query}`);
      expectEqual("the subscriptions after a repeated POST", await listed(), [repeated.id]);
      for (const path of [`/subscriptions?${query}`, `/subscriptions/${repeated.id}`]) {
        const { status, text } = await session.ask("DELETE", path);
        expectEqual("the refusal", [status, text.includes(workflow.id)], [409, true]);
      }
      await session.get(z.unknown(), "PUT", `/workflows/${workflow.id}`, { triggers: [] });
      await eventually(async () => expectEqual("the subscriptions without the trigger", await listed(), []));
      await session.expectStatus(204, "DELETE", `/workflows/${workflow.id}`);
    },
  },
  {
    about: "Webhooks",
    name: "POST /webhooks refuses a URL that cannot be connected to, and warns about one that is not encoded",
    check: async (session) => {
      for (const host of ["example.com:65536", "example.com:0", `${"a".repeat(64)}.example.com`])
        await session.expectStatus(422, "POST", `/webhooks?url=https://${host}/`);
      const answer = dataOf(webhook).extend({ warnings: z.array(z.looseObject({ code: z.string(), path: z.string() })) });
      const { data, warnings } = await session.get(answer, "POST", "/webhooks?url=https://example.com/?a=1&b=2");
      session.keep(`/webhooks/${data.id}`);
      expectEqual(
        "a warning about url",
        warnings.some(({ path }) => path === "url"),
        true,
      );
    },
  },
  {
    about: "Components",
    name: "a component whose key is a path of the API is refused, and a prop that is null has a warning",
    check: async (session) => {
      const code = (fields: string): string => `export default { name: "Conformance Keys", version: "0.1.0", ${fields}, run() {} };`;
      for (const key of ["search", "registry"])
        await session.expectStatus(422, "POST", "/components", { body: { component_code: code(`key: "${key}"`) } });
      const answer = dataOf(component).extend({ warnings: z.array(z.looseObject({ path: z.string() })) });
      const body = { component_code: code(`props: { city: null }, tag: "${session.tag}"`) };
      const { data, warnings } = await session.get(answer, "POST", "/components", body);
      session.keep(`/components/${data.id}`);
      expectEqual(
        "a warning about the prop",
        warnings.some(({ path }) => path === "props.city"),
        true,
      );
    },
  },
  {
    about: "Events",
    name: "a replay with an empty start_id, end_id or listener_id is refused",
    check: async (session) => {
      for (const name of ["start_id", "end_id", "listener_id"])
        await session.expectStatus(422, "POST", `/sources/${session.recall("source")}/replays`, { body: { [name]: "" } });
    },
  },
  {
    about: "Organizations",
    name: "an organization that does not exist, or does not own the resource, is refused by id",
    check: async (session) => {
      const { data } = await session.get(dataOf(organization), "POST", "/orgs", { name: `${session.tag} apart` });
      session.keep(`/orgs/${data.id}`);
      const { data: hook } = await session.get(dataOf(webhook), "POST", "/webhooks?url=https://example.com/");
      session.keep(`/webhooks/${hook.id}`);
      for (const method of ["GET", "DELETE"])
        for (const id of [data.id, "o_000000000000"]) await session.expectStatus(404, method, `/webhooks/${hook.id}?org_id=${id}`);
      await session.expectStatus(200, "GET", `/webhooks/${hook.id}`);
    },
  },
];
