import type { EmailConfirmation } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";

export const command: Definition = {
  description: "Changes your own settings. Those of an organization are in `hw orgs settings`.",
  options: [
    { flags: "--error-mails <on|off>", description: "mails about errors of your workflows and sources", choices: ["on", "off"] },
    { flags: "--confirm-email", description: "have a link mailed that confirms your address" },
  ],
  examples: [
    { command: "hw settings --error-mails off", does: "End mails about errors." },
    { command: "hw settings --confirm-email", does: "Confirm your address, so that mails go there." },
  ],
  operations: ["updateMe", "confirmMyEmail"],
  run: async ({ client, out }, given) => {
    if (given.flag("confirm-email")) {
      const answer = await client.call("confirmMyEmail", {});
      return out.done(answer, confirmationText(answer.data));
    }
    const body = { error_mails: given.required("error-mails") === "on" };
    await out.done(await client.call("updateMe", { body }), `mails about errors are ${body.error_mails ? "on" : "off"}`);
  },
};

export const confirmationText = ({ email, email_confirmed: isConfirmed }: EmailConfirmation): string =>
  isConfirmed ? `${email} is confirmed` : `a link is mailed to ${email}: open it within 24 hours, and press the button`;
