import { z } from "zod";
import type { Rule } from "./rule.ts";
import { expectEqual, Unmet, type Session } from "./session.ts";
import { component, dataOf } from "./shapes.ts";

const published = component.extend({ key: z.string(), deprecated: z.string().nullable() });
const warned = z.looseObject({ warnings: z.array(z.looseObject({ code: z.string() })).optional() });

/** The registry, as every user sees it. */
export const registryRules: readonly Rule[] = [
  {
    about: "Registry",
    name: "what the registry lists is found by key and by version, and an unknown key is 404",
    check: async (session) => {
      const listed = z.looseObject({ data: z.array(z.looseObject({ id: z.string(), key: z.string(), version: z.string().nullable() })) });
      const [first] = (await session.get(listed, "GET", "/components/registry")).data;
      if (first === undefined) throw new Unmet("the registry is empty");
      for (const query of ["", `?version=${first.version ?? ""}`]) {
        const { data } = await session.get(dataOf(published), "GET", `/components/registry/${first.key}${query}`);
        expectEqual("id and key", [data.id, data.key], [first.id, first.key]);
      }
      await session.expectStatus(404, "GET", `/components/registry/${session.tag}`);
      await session.expectStatus(404, "GET", `/components/registry/${first.key}?version=0.0.0-none`);
    },
  },
];

/** Publishing, with the admin token of the server. */
export const publishingRules: readonly Rule[] = [
  {
    about: "Registry",
    name: "an admin publishes versions, which never change; the key stands for the newest that is not deprecated",
    check: async (session) => {
      const key = session.tag;
      const publish = async (version: string, more = "") =>
        session.admin("POST", `/components/${await saved(session, version, more)}/publish`);
      const current = async () => session.get(dataOf(published), "GET", `/components/registry/${key}`);
      const statuses = [await publish("1.0.0"), await publish("1.10.0"), await publish("1.9.0"), await publish("1.0.0")];
      expectEqual("statuses", statuses, [200, 200, 200, 200]);
      expectEqual("the status of other code", await publish("1.0.0", " // changed"), 409);
      expectEqual("the status of a version that is not semantic", await publish("1.0"), 422);
      expectEqual("the version of the key", (await current()).data.version, "1.10.0");
      const deprecate = (version: string, deprecated: string) =>
        session.admin("PUT", `/components/registry/${key}@${version}`, { deprecated });
      expectEqual("the status of a deprecation", await deprecate("1.10.0", "use 1.9.0"), 200);
      expectEqual("the version of the key", (await current()).data.version, "1.9.0");
      const old = await session.get(warned, "GET", `/components/registry/${key}?version=1.10.0`);
      expectEqual(
        "warnings",
        old.warnings?.map(({ code }) => code),
        ["version_deprecated"],
      );
      for (const version of ["1.0.0", "1.9.0", "1.10.0"]) {
        await deprecate(version, "gone");
        expectEqual("the status of a deletion", await session.admin("DELETE", `/components/registry/${key}@${version}`), 204);
      }
      await session.expectStatus(404, "GET", `/components/registry/${key}`);
    },
  },
];

async function saved(session: Session, version: string, more: string): Promise<string> {
  const code = `export default { name: "Published", key: "${session.tag}", version: "${version}", run() {} };${more}`;
  const { data } = await session.get(dataOf(component), "POST", "/components", { component_code: code });
  session.keep(`/components/${data.id}`);
  return data.id;
}
