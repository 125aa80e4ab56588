import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, type Session } from "./session.ts";
import { autoSubscription, dataOf, pageOf, source, subscription, webhook } from "./shapes.ts";

const identified = z.looseObject({ id: z.string() });
const owner = { owner_id: z.string() };
/** Items of the lists of an organization. */
const lists = {
  sources: source.extend(owner),
  webhooks: webhook.extend(owner),
  subscriptions: subscription,
  auto_subscriptions: autoSubscription,
};

/** What an organization owns. Needs a server on which users create organizations. */
export const organizationRules: readonly Rule[] = [
  {
    about: "Organizations",
    name: "org_id or workspace_id, in the query or in the body, makes an organization the owner of what is created",
    check: async (session) => {
      const id = await createOrganization(session);
      const component_code = `export default { name: "Conformance Owned", version: "0.1.0", run() { /* ${session.tag} */ } };`;
      const { data: deployed } = await session.get(dataOf(lists.sources), "POST", `/sources?org_id=${id}`, { component_code });
      const paths = [`/components/${deployed.component_id}?org_id=${id}`, `/sources/${deployed.id}?org_id=${id}`];
      let [first, made] = ["", 0];
      for (const name of ["org_id", "workspace_id"]) {
        const inQuery = await session.get(dataOf(lists.webhooks), "POST", `/webhooks?url=https://example.com/${++made}&${name}=${id}`);
        const inBody = await session.get(dataOf(lists.webhooks), "POST", `/webhooks?url=https://example.com/${++made}`, { [name]: id });
        for (const { data } of [inQuery, inBody]) {
          expectEqual(`the owner by ${name}`, data.owner_id, id);
          paths.push(`/webhooks/${data.id}?org_id=${id}`);
        }
        first = inQuery.data.id;
      }
      for (const channel of ["", "$errors"]) {
        const query = `emitter_id=dc_*&listener_id=${first}&event_name=${encodeURIComponent(channel)}`;
        await session.get(dataOf(subscription), "POST", `/subscriptions?${query}&org_id=${id}`);
        paths.push(`/subscriptions?${query}&org_id=${id}`);
      }
      for (const channel of ["$logs", "$errors"]) {
        const query = `listener_id=${first}&event_name=${encodeURIComponent(channel)}&org_id=${id}`;
        await session.get(dataOf(autoSubscription), "POST", `/auto_subscriptions?${query}`);
        paths.push(`/auto_subscriptions?${query}`);
      }
      for (const path of paths) session.keep(path);
      session.remember("organization", id);
      session.remember("owned paths", JSON.stringify(paths));
    },
  },
  ...Object.entries(lists).map(([plural, item]) => ({
    about: "Organizations",
    name: `GET /orgs/{id}/${plural} is GET /workspaces/{id}/${plural}, has pages, and takes include and exclude`,
    check: async (session: Session) => {
      const id = session.recall("organization");
      const { data: all } = await session.get(pageOf(item), "GET", `/orgs/${id}/${plural}?limit=100`);
      if (all.length === 0) throw new Error("the list is empty");
      for (const each of all) if ("owner_id" in each) expectEqual("the owner", each.owner_id, id);
      for (const path of [`/orgs/${id}/${plural}/`, `/workspaces/${id}/${plural}`, `/workspaces/${id}/${plural}/`])
        expectEqual(path, (await session.get(pageOf(item), "GET", path)).data, all.slice(0, 10));
      expectEqual(
        "the ids of all pages",
        await idsOfPages(session, `/orgs/${id}/${plural}`),
        all.map((each) => each.id),
      );
      const select = async (query: string) => (await session.get(pageOf(z.looseObject({})), "GET", `/orgs/${id}/${plural}?${query}`)).data;
      expectEqual("include=id", await select("limit=1&include=id"), [{ id: all[0]?.id }]);
      const [without = {}] = await select("limit=1&exclude=id");
      const others = Object.keys(all[0] ?? {}).filter((name) => name !== "id");
      expectEqual("exclude=id", Object.keys(without).toSorted(), others.toSorted());
    },
  })),
  {
    about: "Organizations",
    name: "what an organization owns is deleted by its id with org_id, then the organization",
    check: async (session) => {
      const id = session.recall("organization");
      const paths = z.array(z.string()).parse(JSON.parse(session.recall("owned paths")));
      for (const path of paths.toReversed()) {
        const { status, text } = await session.ask("DELETE", path);
        if (status < 200 || status > 299) throw new Error(`DELETE ${path} answered ${status}: ${text.slice(0, 200)}`);
      }
      // A deleted resource counts as owned until the operator has released it.
      await eventually(() => session.expectStatus(204, "DELETE", `/orgs/${id}`));
    },
  },
];

async function createOrganization(session: Session): Promise<string> {
  const { data } = await session.get(dataOf(identified), "POST", "/orgs", { name: `${session.tag} owner` });
  session.keep(`/orgs/${data.id}`);
  return data.id;
}

/** Reads a list forwards, and of each later page also the one before it. */
async function idsOfPages(session: Session, path: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let query = "limit=1"; ;) {
    const { page_info: info, data } = await session.get(pageOf(identified), "GET", `${path}?${query}`);
    ids.push(...data.map(({ id }) => id));
    if (ids.length > 1 && info.start_cursor !== null) {
      const { data: earlier } = await session.get(pageOf(identified), "GET", `${path}?limit=1&before=${info.start_cursor}`);
      expectEqual("the item before", earlier[0]?.id, ids.at(-2));
    }
    if (info.end_cursor === null) return ids;
    query = `limit=1&after=${info.end_cursor}`;
  }
}
