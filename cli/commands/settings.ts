import type { Definition } from "../command.ts";

export const command: Definition = {
  description: "Changes your own settings. Those of an organization are in `hw orgs settings`.",
  options: [{ flags: "--error-mails <on|off>", description: "mails about errors of your workflows and sources", choices: ["on", "off"] }],
  examples: [{ command: "hw settings --error-mails off", does: "End mails about errors." }],
  operations: ["updateMe"],
  run: async ({ client, out }, given) => {
    const body = { error_mails: given.required("error-mails") === "on" };
    await out.done(await client.call("updateMe", { body }), `mails about errors are ${body.error_mails ? "on" : "off"}`);
  },
};
