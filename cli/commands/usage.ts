import type { Definition } from "../command.ts";
import { organizationOf } from "../organization.ts";
import { fieldLines } from "../output/fields.ts";

export const command: Definition = {
  description: "Shows who you are, your organizations, your quotas and how much of them is used. With an organization, shows its usage.",
  arguments: [{ name: "[organization]", description: "id or name of an organization; by default that of --org" }],
  options: [{ flags: "--today", description: "show only the usage of today, with events and deliveries" }],
  examples: [{ command: "hw usage", does: "Show runs and compute time of today." }],
  operations: ["getMe", "getMyUsage", "getUsage"],
  run: async ({ client, out, profile }, given) => {
    const named = given.text("organization");
    const organization = named === undefined ? profile.org : await organizationOf(client, named);
    const read = () => {
      if (organization !== undefined) return client.call("getUsage", { path: { org_id: organization } });
      return given.flag("today") ? client.call("getMyUsage", {}) : client.call("getMe", {});
    };
    const answer = await read();
    await out.document(answer, () => fieldLines(answer.data));
  },
};
