import type { Operations } from "../../client/generated/operations.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { present } from "../values.ts";
import { withStoreIds } from "./data-stores.ts";
import type { Manifest, Spec } from "./manifest.ts";
import { codeBody, codeOf, configuredProps, normalCode, propsOf } from "./props.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { Session } from "./session.ts";

async function bodyOf(session: Session, { name, spec }: Manifest): Promise<Record<string, unknown>> {
  const props = await configuredProps(session, spec, `Source ${name}`);
  return {
    ...(await codeBody(session, spec, `Source ${name}`)),
    ...present({ name: spec["name"] ?? name, active: spec["active"], configured_props: props }),
  };
}

export const sourceResource: ResourceKind = {
  name: "Source",
  listed: kindNamed("sources"),
  specOf: async (session, item) => ({
    name: item["name"],
    active: item["active"],
    props: propsOf(item["configured_props"]),
    ...(await codeOf(session, item["component_id"])),
  }),
  normalize: async (session, { name, active, props = {}, secrets, ...spec }: Spec) =>
    present({ name, active, props: await withStoreIds(session, props, "Source"), secrets, ...(await normalCode(session, spec, "Source")) }),
  create: async (session, manifest) => {
    const more = present({ emit_on_deploy: manifest.spec["emitOnDeploy"] });
    const body = { ...(await bodyOf(session, manifest)), ...more } as Operations["createSource"]["body"]; // The API checks it.
    return session.client.call("createSource", { body });
  },
  update: async (session, id, manifest) => {
    const body = (await bodyOf(session, manifest)) as Operations["updateSource"]["body"]; // The API checks it.
    return session.client.call("updateSource", { path: { id }, body });
  },
};
