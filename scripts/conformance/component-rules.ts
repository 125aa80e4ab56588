import { hash } from "node:crypto";
import { z } from "zod";
import type { Rule } from "./rule.ts";
import { expectEqual, expectRefused, type Session } from "./session.ts";
import { component, dataOf, user } from "./shapes.ts";

const codeOf = ({ tag }: Session): string => `export default {
  name: "Conformance", key: "${tag}", version: "0.1.0", dedupe: "unique",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } }, word: { type: "string", default: "one" }, db: "$.service.db" },
  hooks: { deploy() { for (const n of [1, 2, 2, 3]) this.$emit({ n }, { id: n, summary: "n is " + n, ts: n }); this.$emit({ filler: "x".repeat(2000) }, { id: "long", name: "long" }); } },
  run() {},
};`;

export const componentRules: readonly Rule[] = [
  {
    about: "Authentication",
    name: "a request without a key is refused",
    check: async (session) => expectRefused(await session.ask("GET", "/users/me", { key: null })),
  },
  { about: "Users", name: "GET /users/me", check: async (session) => void (await session.get(dataOf(user), "GET", "/users/me")) },
  {
    about: "Components",
    name: "POST /components saves code",
    check: async (session) => {
      const code = codeOf(session);
      const { data } = await session.get(dataOf(component), "POST", "/components", { component_code: code });
      session.keep(`/components/${data.id}`);
      session.remember("component", data.id);
      expectEqual("code", data.code, code);
      expectEqual("code_hash", data.code_hash, hash("sha256", code));
      expectEqual("name and version", [data.name, data.version], ["Conformance", "0.1.0"]);
      const timer = data.configurable_props.find(({ name }) => name === "timer");
      expectEqual("the default of the timer", timer?.["default"], { intervalSeconds: 86_400 });
    },
  },
  {
    about: "Components",
    name: "POST /components without code is refused",
    check: async (session) => expectRefused(await session.ask("POST", "/components", { body: {} })),
  },
  {
    about: "Components",
    name: "GET /components/{id} and /components/{key}",
    check: async (session) => {
      const id = session.recall("component");
      for (const name of [id, session.tag])
        expectEqual("id", (await session.get(dataOf(component), "GET", `/components/${name}`)).data.id, id);
    },
  },
  {
    about: "Common parameters",
    name: "include and exclude choose fields",
    check: async (session) => {
      const path = `/components/${session.recall("component")}`;
      const { data } = await session.get(dataOf(z.record(z.string(), z.unknown())), "GET", `${path}?include=id,name`);
      expectEqual("fields", Object.keys(data).toSorted(), ["id", "name"]);
      const { data: rest } = await session.get(dataOf(z.record(z.string(), z.unknown())), "GET", `${path}?exclude=code`);
      expectEqual("whether code is there", "code" in rest, false);
    },
  },
];
