import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, expectRefused, type Session } from "./session.ts";
import { created, dataOf, pageOf, source } from "./shapes.ts";

const sources = z.object({ id: z.string() });
const listOf = (session: Session, query: string) => session.get(pageOf(sources), "GET", `/users/me/sources${query}`);

export const sourceRules: readonly Rule[] = [
  {
    about: "Sources",
    name: "POST /sources deploys a component",
    check: async (session) => {
      const body = {
        component_id: session.recall("component"),
        name: session.tag,
        configured_props: { timer: { intervalSeconds: 43_200 } },
      };
      const { data } = await session.get(dataOf(source.extend(created)), "POST", "/sources", body);
      session.keep(`/sources/${data.id}`);
      session.remember("source", data.id);
      expectEqual("component_id", data.component_id, body.component_id);
      expectEqual("active and name", [data.active, data.name], [true, session.tag]);
      expectEqual("the timer", data.configured_props["timer"], { cron: null, interval_seconds: 43_200 });
    },
  },
  {
    about: "Sources",
    name: "a cron timer shows its cron and an integer interval_seconds",
    check: async (session) => {
      const path = `/sources/${session.recall("source")}`;
      const body = { component_id: session.recall("component"), name: session.tag, configured_props: { timer: { cron: "0 9 * * *" } } };
      const { data } = await session.get(dataOf(source), "PUT", path, body);
      const timer = z.looseObject({ cron: z.string(), interval_seconds: z.int() }).parse(data.configured_props["timer"]);
      expectEqual("the cron", timer.cron, "0 9 * * *");
    },
  },
  {
    about: "Sources",
    name: "POST /sources without a component is refused",
    check: async (session) => expectRefused(await session.ask("POST", "/sources", { body: { name: session.tag } })),
  },
  {
    about: "Sources",
    name: "a name that is taken gets another slug",
    check: async (session) => {
      const body = { component_id: session.recall("component"), name: session.tag };
      const { data } = await session.get(dataOf(source), "POST", "/sources", body);
      session.keep(`/sources/${data.id}`);
      session.remember("other source", data.id);
      expectEqual("name_slug", data.name_slug, `${session.tag}-2`);
    },
  },
  {
    about: "Pagination",
    name: "lists have pages: limit, after, before",
    check: async (session) => {
      const [first, second] = (await listOf(session, "?limit=2")).data;
      const one = await listOf(session, "/?limit=1"); // A trailing slash changes nothing.
      expectEqual("the page of one", [one.data, one.page_info.count], [[{ id: first?.id }], 1]);
      const next = await listOf(session, `?limit=1&after=${one.page_info.end_cursor}`);
      expectEqual("the page after it", next.data, [{ id: second?.id }]);
      const back = await listOf(session, `?limit=1&before=${next.page_info.start_cursor}`);
      expectEqual("the page before that", back.data, [{ id: first?.id }]);
      expectRefused(await session.ask("GET", "/users/me/sources?limit=0"));
    },
  },
  {
    about: "Sources",
    name: "PUT /sources/{id} changes, and the id stays",
    check: async (session) => {
      const body = { component_id: session.recall("component"), name: `${session.tag}-off`, active: false };
      const path = `/sources/${session.recall("other source")}`;
      const { data } = await session.get(dataOf(source), "PUT", path, body);
      expectEqual("id, name and active", [data.id, data.name, data.active], [session.recall("other source"), body.name, false]);
    },
  },
  {
    about: "Sources",
    name: "DELETE /sources/{id}",
    check: async (session) => {
      const id = session.recall("other source");
      const { status } = await session.ask("DELETE", `/sources/${id}`);
      if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
      await eventually(async () => {
        const { data } = await listOf(session, "?limit=100");
        expectEqual(
          "whether it is still in the list",
          data.some((each) => each.id === id),
          false,
        );
      });
    },
  },
];
